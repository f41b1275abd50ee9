/** How long an aborted operation may take to settle; after it, a stuck disk no longer delays the shutdown. */
const LAST_MS_MAX = 250;

/** Resolves when the promise has settled, or a moment after `deadline` has aborted. Never rejects. */
export async function waitUntil(promise: Promise<unknown>, deadline: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const done = (): void => {
      clearTimeout(timer);
      deadline.removeEventListener('abort', onAbort);
      resolve();
    };
    const onAbort = (): void => {
      timer = setTimeout(done, LAST_MS_MAX);
    };
    deadline.addEventListener('abort', onAbort, { once: true });
    if (deadline.aborted) onAbort();
    void promise.catch(() => undefined).finally(done);
  });
}
