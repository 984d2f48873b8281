/** Where push becomes pull: a queue that one reader iterates. What is pushed is never lost, whatever the reader does. */
export class Channel<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #wake: (() => void) | undefined;
  #closed = false;
  #failure: { readonly error: unknown } | undefined;

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** Ends the iteration after what has been pushed; with an error, by throwing it. */
  close(failure?: { readonly error: unknown }): void {
    this.#closed = true;
    this.#failure = failure;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const items = this.#items;
      this.#items = [];
      yield* items;
      if (this.#items.length > 0) continue;
      if (this.#closed) break;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    if (this.#failure) throw this.#failure.error;
  }
}
