/** Number of paths or definitions that are built before yielding to the event loop: a few milliseconds of work at most. */
export const ENTRIES_PER_TURN = 20;

/** Yields to the event loop. */
export async function turn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
