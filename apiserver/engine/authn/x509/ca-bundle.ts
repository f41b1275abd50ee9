import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Log } from '../../../../shared/log/log';
import type { Certificate } from './certificate';
import { certificatesOfPem } from './certificate';

/** How often bundles are read again; kube-apiserver takes a minute. */
const BUNDLE_POLL_MS = 10_000;

/** Stands for the text of a file that cannot be read; no text of a bundle is empty. */
const UNREADABLE = '';

/** Authorities whose certificates are trusted, as a file holds them now. */
export interface CaBundle {
  readonly file: string;
  /** What the file says; replaced as a whole, so that its identity tells whether something has changed. */
  readonly current: () => CaContent;
  /** Calls back after every change. */
  readonly onChange: (listener: () => void) => void;
  readonly stop: () => void;
}

export interface CaContent {
  readonly pem: string;
  readonly anchors: readonly Certificate[];
}

/**
 * Reads the file, and again every `pollMs`. A file that cannot be used any more is logged once, and what it said before stays. Throws
 * an Error that names the file when it cannot be used at first.
 */
export function openCaBundle(
  file: string,
  { log, pollMs = BUNDLE_POLL_MS }: { readonly log: Log; readonly pollMs?: number },
): CaBundle {
  let content = contentOf(file, readOnce(file));
  warnOfUnusableKeys(file, content, log);
  let seen = content.pem;
  const listeners: (() => void)[] = [];
  const look = async (): Promise<void> => {
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
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    looking ??= look().finally(() => {
      looking = undefined;
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

/** kube-apiserver would not start with such a bundle; here the other authorities in it are of use all the same. */
function warnOfUnusableKeys(file: string, { anchors }: CaContent, log: Log): void {
  for (const { x509, hasAcceptedKey } of anchors) {
    if (hasAcceptedKey) continue;
    log.warn(
      { file, subject: x509.subject },
      'CA certificate ignored: its key is of a kind or size that is not accepted',
    );
  }
}
