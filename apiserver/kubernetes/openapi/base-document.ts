import { createHash } from 'node:crypto';

/** The paths and definitions of one custom resource, or of the built-in API, as written in a v2 document. */
export interface Members {
  readonly paths: Buffer;
  readonly definitions: Buffer;
}

/** Members with a hash of both, for documents that are hashed by their parts. */
export interface HashedMembers extends Members {
  /** Hexadecimal. */
  readonly hash: string;
}

/** Returns the bytes before, between and after the paths and definitions, from the lengths of both in bytes. */
export type Wrapping = (length: {
  readonly paths: number;
  readonly definitions: number;
}) => readonly [before: Buffer, between: Buffer, after: Buffer];

/** The v2 document of the built-in API, to which custom resources can be added without rebuilding it. */
export interface BaseDocument extends Members {
  /** The whole document. The members are slices of it. */
  readonly bytes: Buffer;
  readonly wrap: Wrapping;
}

export function baseDocument(wrap: Wrapping, members: Members): BaseDocument {
  const { paths, definitions } = members;
  const [before, between, after] = wrapped(wrap, [members]);
  const bytes = Buffer.concat([before, paths, between, definitions, after]);
  const definitionsAt = before.length + paths.length + between.length;
  return {
    bytes,
    paths: bytes.subarray(before.length, before.length + paths.length),
    definitions: bytes.subarray(definitionsAt, definitionsAt + definitions.length),
    wrap,
  };
}

/** Returns the document with more members, as chunks that share the bytes of both. */
export function withMembers(base: BaseDocument, more: readonly Members[]): readonly Buffer[] {
  if (more.length === 0) return [base.bytes];
  const all = [base, ...more];
  const [before, between, after] = wrapped(base.wrap, all);
  return [
    before,
    ...all.map(({ paths }) => paths),
    between,
    ...all.map(({ definitions }) => definitions),
    after,
  ].filter(({ length }) => length > 0);
}

/** Returns the hash of the concatenated buffers, in hexadecimal. */
export function hashOf(...parts: readonly Buffer[]): string {
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').toUpperCase();
}

function wrapped(wrap: Wrapping, all: readonly Members[]): ReturnType<Wrapping> {
  return wrap({
    paths: all.reduce((sum, { paths }) => sum + paths.length, 0),
    definitions: all.reduce((sum, { definitions }) => sum + definitions.length, 0),
  });
}
