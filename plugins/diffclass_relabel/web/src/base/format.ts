// Numbers as text.

/** Whole numbers with thin spaces between thousands. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

export function plural(value: number, thing: string): string {
  return `${count(value)} ${thing}${value === 1 ? "" : "s"}`;
}

/** What is done with changes that the server does not have yet; nothing where there are none. */
export function keptChanges(waiting: number, until: string): string {
  if (!waiting) return "";
  return `${waiting === 1 ? "1 change is" : `${waiting} changes are`} kept here and sent ${until}.`;
}
