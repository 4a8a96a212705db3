// Builds ../static/app.js, the page, and ../static/widget.js, its frame in a notebook, from src/. With
// an argument, writes into that folder instead (the test of the build compares them). No source map:
// the committed files must not depend on where they were built.
import { build } from "esbuild";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = resolve(process.argv[2] ?? resolve(here, "../static"));

for (const [source, name, format] of [
  ["src/main.ts", "app.js", "iife"],
  ["src/notebook/widget.ts", "widget.js", "esm"],
]) {
  await build({
    absWorkingDir: here,
    entryPoints: [source],
    outfile: resolve(folder, name),
    bundle: true,
    minify: true,
    target: "es2022",
    format,
    charset: "ascii",
    legalComments: "none",
    banner: { js: "// Built from plugins/diffclass_relabel/web/src by `npm run build`; do not edit." },
  });
}
