// What the browser keeps for the next time; where it refuses, as for frames of other sites, or has no room,
// what is kept for as long as the page is open.

const meanwhile = new Map<string, string>();

function tried<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}

/** Whether anything lasts longer than the page. */
export const lasts = tried(() => Boolean(localStorage)) ?? false;

export function stored(key: string): string | null {
  return meanwhile.get(key) ?? tried(() => localStorage.getItem(key));
}

export function store(key: string, value: string): void {
  if (tried(() => (localStorage.setItem(key, value), true))) meanwhile.delete(key);
  else meanwhile.set(key, value);
}

export function forget(key: string): void {
  meanwhile.delete(key);
  tried(() => localStorage.removeItem(key));
}

/** The keys of all that is kept. */
export function storedKeys(): string[] {
  return [...meanwhile.keys(), ...(tried(() => Object.keys(localStorage)) ?? [])];
}
