/**
 * Work in steps that waits only where it yields a promise. Most work of a write need not wait at all, and then no promise is created for
 * it: twenty policies of a few microseconds each would otherwise cost more in promises than in evaluation.
 */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>;

/** Waits for a promise within steps. Throws what it rejects with. */
export function* waitFor<T>(promise: Promise<T>): Steps<T> {
  return (yield promise) as T;
}

/** Runs steps to their end, and returns a promise only if they have to wait. Throws, or rejects with, the error of a step. */
export function runSteps<T>(steps: Steps<T>): Promise<T> | T {
  const first = steps.next();
  return first.done === true ? first.value : resume(steps, first.value);
}

async function resume<T>(steps: Steps<T>, first: Promise<unknown>): Promise<T> {
  let pending = first;
  for (;;) {
    let next: IteratorResult<Promise<unknown>, T>;
    try {
      const value = await pending;
      next = steps.next(value);
    } catch (error) {
      // An error of the steps themselves has ended them; throwing it into them rethrows it.
      next = steps.throw(error);
    }
    if (next.done === true) return next.value;
    pending = next.value;
  }
}
