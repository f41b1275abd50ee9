import { X509Certificate } from 'node:crypto';
import type { LoopBounds } from '../../../engine/request/loop-bounds';
import { TooLargeHereError } from '../../../engine/request/loop-bounds';

/** One block of a PEM text. */
export interface PemBlock {
  /** The text of its marks: `CERTIFICATE`. */
  readonly type: string;
  /** What is between the marks, in base64 unless it has headers. */
  readonly body: string;
  readonly hasHeaders: boolean;
}

/** A block ends at the next mark, as Go reads it; searching beyond it would take minutes for many unclosed blocks. */
const BLOCKS = /-----BEGIN ([^-\n]+)-----\r?\n((?:[^-]|-(?!----))*)-----END \1-----/g;

/** Measured: node:crypto takes 0.3 ms to parse a certificate. */
const BLOCKS_HERE_MAX = 10;

/**
 * Returns the blocks of a PEM text in their order; text outside of blocks is ignored. Throws TooLargeHereError for more certificates than the
 * event loop should parse. Never without bounds.
 */
export function pemBlocks(text: string, bounds: LoopBounds | undefined): readonly PemBlock[] {
  const blocks = [...text.matchAll(BLOCKS)].map(([, type = '', body = '']) => ({
    type,
    body,
    hasHeaders: body.includes(':'),
  }));
  if (bounds !== undefined && blocks.length > BLOCKS_HERE_MAX) {
    throw new TooLargeHereError(`${String(blocks.length)} PEM blocks`);
  }
  return blocks;
}

/** Parses the certificate of a block; undefined for one that is malformed. */
export function certificateOfBlock({ body }: PemBlock): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(Buffer.from(body, 'base64'));
    return certificate.serialNumber === '' ? undefined : certificate;
  } catch {
    return undefined;
  }
}
