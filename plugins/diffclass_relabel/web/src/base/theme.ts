// Dark or light: as the system is, until the button says otherwise.

const STORED = "diffclass-theme";

type Theme = "light" | "dark";

export function startTheme(): void {
  const stored = localStorage.getItem(STORED);
  if (stored === "light" || stored === "dark") show(stored);
}

export function toggleTheme(): void {
  const next = current() === "dark" ? "light" : "dark";
  localStorage.setItem(STORED, next);
  show(next);
}

function current(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function show(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}
