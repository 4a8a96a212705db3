// The smallest event bus with types: who changes something says so, who shows it listens.

export class Emitter<Events> {
  private listeners: { [K in keyof Events]?: ((event: Events[K]) => void)[] } = {};

  on<K extends keyof Events>(name: K, listener: (event: Events[K]) => void): void {
    (this.listeners[name] ??= []).push(listener);
  }

  emit<K extends keyof Events>(name: K, event: Events[K]): void {
    for (const listener of this.listeners[name] ?? []) listener(event);
  }
}
