type Init = Iterable<readonly [string, string]> | Readonly<Record<string, string>>;

/**
 * HTTP headers with the part of the web's `Headers` that the model SDKs use. The global `Headers` of Node loads undici
 * (about 40 ms and 8 MB), so our responses carry these; the build also puts them in the place of that global in the SDKs'
 * own code (sdk-globals.ts).
 */
export class LightHeaders implements Iterable<[string, string]> {
  readonly #values = new Map<string, string>();

  constructor(init: Init = []) {
    const pairs = Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value] of pairs as Iterable<readonly [string, string]>) this.append(name, value);
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), String(value).trim());
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  entries(): MapIterator<[string, string]> {
    return this.#values.entries();
  }

  keys(): MapIterator<string> {
    return this.#values.keys();
  }

  values(): MapIterator<string> {
    return this.#values.values();
  }

  forEach(visit: (value: string, name: string) => void): void {
    this.#values.forEach(visit);
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.entries();
  }
}
