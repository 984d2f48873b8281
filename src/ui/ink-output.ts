type Transformer = (row: string, index: number) => string;

/**
 * In the bundle, what Ink collects a frame in. Its own splits every row into styled characters, so that texts may lie
 * over each other and be clipped; our live region only stacks rows, and a frame costs a third of that.
 */
export default class Output {
  readonly #rows: string[];

  constructor({ height }: { readonly width: number; readonly height: number }) {
    this.#rows = Array.from({ length: height }, () => "");
  }

  write(x: number, y: number, text: string, { transformers }: { readonly transformers: readonly Transformer[] }): void {
    if (text === "") return;
    text.split("\n").forEach((row, index) => {
      const painted = transformers.reduce((line, transform) => transform(line, index), row);
      if (this.#rows[y + index] !== undefined) this.#rows[y + index] = " ".repeat(x) + painted;
    });
  }

  get(): { readonly output: string; readonly height: number } {
    return { output: this.#rows.join("\n"), height: this.#rows.length };
  }
}
