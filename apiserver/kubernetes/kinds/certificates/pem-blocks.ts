import { X509Certificate } from 'node:crypto';

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

/** Returns the blocks of a PEM text in their order; text outside of blocks is ignored. */
export function pemBlocks(text: string): readonly PemBlock[] {
  return [...text.matchAll(BLOCKS)].map(([, type = '', body = '']) => ({
    type,
    body,
    hasHeaders: body.includes(':'),
  }));
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
