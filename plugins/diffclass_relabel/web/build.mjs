// Builds ../static/app.js from src/. With an argument, writes there instead (the test of the build
// compares the two). No source map: the committed file must not depend on where it was built.
import { build } from "esbuild";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

await build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts"],
  outfile: resolve(process.argv[2] ?? resolve(here, "../static/app.js")),
  bundle: true,
  minify: true,
  target: "es2022",
  format: "iife",
  charset: "ascii",
  legalComments: "none",
  banner: { js: "// Built from plugins/diffclass_relabel/web/src by `npm run build`; do not edit." },
});
