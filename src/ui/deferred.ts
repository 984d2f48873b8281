/** A promise with its two ends. */
export const deferred = <T>() => {
  let resolve = (_: T): void => undefined;
  let reject = (_: unknown): void => undefined;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
};
