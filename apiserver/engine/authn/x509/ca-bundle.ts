import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Log } from '../../../../shared/log/log';
import type { Certificate } from '../../../../shared/certs/x509/certificate';
import { certificatesOfPem } from '../../../../shared/certs/x509/certificate';

/** The reload interval of bundles; that of kube-apiserver is a minute. */
const BUNDLE_POLL_MS = 10_000;

/** The content of an unreadable file; a valid bundle is never empty. */
const UNREADABLE = '';

/** Trusted certificate authorities of a file that is reloaded. */
export interface CaBundle {
  readonly file: string;
  /** Returns the content; a change replaces the object, so that callers can compare identities. */
  readonly current: () => CaContent;
  /** Registers a listener for changes. */
  readonly onChange: (listener: () => void) => void;
  readonly stop: () => void;
}

export interface CaContent {
  readonly pem: string;
  readonly anchors: readonly Certificate[];
}

/**
 * Reads the file and polls it every `pollMs`. A failed reload is logged once, and the old content stays in use. Throws an Error that names the
 * file if the first read fails.
 */
export function openCaBundle(
  file: string,
  { log, pollMs = BUNDLE_POLL_MS }: { readonly log: Log; readonly pollMs?: number },
): CaBundle {
  let content = contentOf(file, readOnce(file));
  warnOfUnusableKeys(file, content, log);
  let seen = content.pem;
  const listeners: (() => void)[] = [];
  const reload = async (): Promise<void> => {
    const now = await readFile(file, 'utf8').catch((error: unknown) => ({ error }));
    const text = typeof now === 'string' ? now : UNREADABLE;
    if (text === seen) return;
    seen = text;
    try {
      if (typeof now !== 'string') throw now.error;
      if (now === content.pem) return;
      content = contentOf(file, now);
      warnOfUnusableKeys(file, content, log);
      log.info({ file, certificates: content.anchors.length }, 'CA bundle reloaded');
      for (const listener of listeners) listener();
    } catch (error) {
      log.warn({ file, error }, 'failed to reload the CA bundle; the old one stays in use');
    }
  };
  let reloading: Promise<void> | undefined;
  const timer = setInterval(() => {
    reloading ??= reload().finally(() => {
      reloading = undefined;
    });
  }, pollMs).unref();
  return {
    file,
    current: () => content,
    onChange: (listener) => {
      listeners.push(listener);
    },
    stop: () => {
      clearInterval(timer);
    },
  };
}

function readOnce(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file}: the file of authorities cannot be read`, { cause: error });
  }
}

function contentOf(file: string, pem: string): CaContent {
  try {
    return { pem, anchors: certificatesOfPem(pem) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${file}: ${why}`, { cause: error });
  }
}

/** kube-apiserver does not start with such a bundle; here the other authorities stay usable. */
function warnOfUnusableKeys(file: string, { anchors }: CaContent, log: Log): void {
  for (const { x509, hasAcceptedKey } of anchors) {
    if (hasAcceptedKey) continue;
    log.warn({ file, subject: x509.subject }, 'CA certificate ignored: its key type or size is not accepted');
  }
}
