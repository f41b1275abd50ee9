/** Paths or definitions that are made before the event loop gets a turn: a few milliseconds of work at most. */
export const ENTRIES_PER_TURN = 20;

/** Lets the event loop do what waits for it. */
export async function turn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
