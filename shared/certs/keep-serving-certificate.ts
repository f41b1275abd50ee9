import { silentLog } from '../log/log';
import type { ServingCertificateOptions } from './serving-certificate';
import { ensureServingCertificate } from './serving-certificate';

const HOUR_MS = 3_600_000;

/**
 * Renews the server's own certificate while the server runs: checks about once an hour, at moments of its own, so that
 * replicas over one directory do not all write at once. A failure is logged and retried. Ends when the signal aborts.
 */
export function keepServingCertificate(
  options: ServingCertificateOptions & { readonly checkMs?: number },
  signal: AbortSignal,
): void {
  const { checkMs = HOUR_MS, log = silentLog } = options;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    try {
      ensureServingCertificate(options);
    } catch (error) {
      log.warn({ error }, 'failed to renew the serving certificate; retrying');
    }
    wait();
  };
  const wait = (): void => {
    timer = setTimeout(look, checkMs * (0.5 + Math.random())).unref();
  };
  if (signal.aborted) return;
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(timer);
    },
    { once: true },
  );
  wait();
}
