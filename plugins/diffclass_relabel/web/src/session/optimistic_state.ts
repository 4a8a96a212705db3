// The optimistic state: the server's, with what was done here since on top.
//
// What the page shows as chosen must not wait for the server, nor jump back when an older state comes:
// every operation counts from when it was done until a state comes that includes it. What is refused
// is taken away again. Maps and labelled pixels are the server's alone.

import { type ClassState, LARGEST_CLASS_ID, type Operation, PALETTE, type SessionState } from "./protocol.generated";

/** An operation that no state includes yet. */
export interface Optimistic {
  operation: Operation;
  newId: number; // Id that a new class is shown with until the server has numbered it; 0: it adds none.
  refs: ClassRef[]; // Who paints with that class meanwhile.
}

/** A class to paint with; its id follows when the server numbers it. */
export interface ClassRef {
  id: number; // 0 erases.
  spare?: boolean; // Labels of other classes stay.
  seen?: number; // Version of the state in which the class was taken: its number may be another's since.
}

/** The id that a new class will have besides others, if nobody else adds one meanwhile; 0: there are too many. */
export function nextId(taken: number[]): number {
  const after = Math.max(0, ...taken) + 1;
  if (after <= LARGEST_CLASS_ID) return after;
  for (let id = 1; id <= LARGEST_CLASS_ID; id++) if (!taken.includes(id)) return id;
  return 0;
}

/** Puts another id in the place of one, if the operation names it. */
export function renumber(operation: Operation, from: number, to: number): void {
  const named = operation as Record<string, unknown>;
  for (const field of ["class", "id", "source", "into"]) if (named[field] === from) named[field] = to;
}

/** The ids of classes that an operation names. */
export function named(operation: Operation): number[] {
  const { class: painted, id, source, into } = operation as Record<string, unknown>;
  return [painted, id, source, into].filter((value): value is number => typeof value === "number");
}

/** The state once the operations are done. */
export function stateAfter(state: SessionState, operations: Iterable<Optimistic>): SessionState {
  for (const { operation, newId } of operations) state = { ...state, ...place(state, operation), ...change(state, operation, newId) };
  return state;
}

/** Where in the history an operation leads. */
function place({ step, can_redo }: SessionState, operation: Operation): Partial<SessionState> {
  if (operation.op === "undo") return at(Math.max(step - (operation.steps ?? 1), 0), true);
  if (operation.op === "redo") return at(step + (operation.steps ?? 1), can_redo);
  return at(step + 1, false);
}

function at(step: number, can_redo: boolean): Partial<SessionState> {
  return { step, can_undo: step > 0, can_redo };
}

/** What of the state an operation makes another. */
function change(state: SessionState, operation: Operation, newId: number): Partial<SessionState> {
  const { classes, strokes } = state;
  const withClass = (id: number, part: Partial<ClassState>) => ({ classes: classes.map((item) => (item.id === id ? { ...item, ...part } : item)) });
  switch (operation.op) {
    case "add_class":
      return { classes: withNew(classes, operation, operation.id ?? newId) };
    case "rename_class":
      return classes.some((item) => item.name === operation.name) ? {} : withClass(operation.id, { name: operation.name });
    case "recolor_class":
      return withClass(operation.id, { color: operation.color });
    case "hide_class":
      return withClass(operation.id, { hidden: operation.hidden });
    case "lock_class":
      return withClass(operation.id, { locked: operation.locked });
    case "merge_classes":
      return { classes: classes.filter((item) => item.id !== operation.source || item.locked) };
    case "remove_class":
      return { classes: classes.filter((item) => item.id !== operation.id || item.locked || (item.pixels > 0 && !operation.with_labels)) };
    case "move":
      return { strokes: strokes.map((item) => (item.number === operation.stroke ? { ...item, class: operation.class } : item)) };
    case "remove":
      return { strokes: strokes.filter((item) => item.number !== operation.stroke) };
    case "tau":
      return typeof operation.tau === "number" ? { tau: operation.tau, tau_mode: "fixed" } : { tau_mode: operation.tau };
    case "label_mode":
      return { label_mode: operation.mode };
    case "warp":
    case "unwarp":
      return { warped: operation.op === "warp" };
    case "batch":
      return operation.operations.reduce((found, part) => ({ ...found, ...change({ ...state, ...found }, part, 0) }), {});
    default:
      return {};
  }
}

/** The classes and a new one as the server will make it. */
function withNew(classes: ClassState[], { name, color }: { name?: string; color?: string }, id: number): ClassState[] {
  if (!id || classes.some((item) => item.id === id)) return classes; // it will be refused
  const taken = new Set(classes.map((item) => item.color));
  const own = PALETTE[(id - 1) % PALETTE.length];
  const free = [own, ...PALETTE].find((item) => !taken.has(item)) ?? own;
  return [...classes, { id, name: name ?? `class ${id}`, color: color ?? free, hidden: false, locked: false, pixels: 0, mapped: 0, since: 0 }];
}
