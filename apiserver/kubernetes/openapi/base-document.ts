import { createHash } from 'node:crypto';

/** The paths and definitions of one custom resource, or of everything that is built in, as they stand in a document of v2. */
export interface Members {
  readonly paths: Buffer;
  readonly definitions: Buffer;
}

/** The same with a hash of both, for documents that are hashed by their parts. */
export interface HashedMembers extends Members {
  /** Hexadecimal. */
  readonly hash: string;
}

/** What stands before the paths, between them and the definitions, and behind these, from the lengths of both in bytes. */
export type Wrapping = (length: {
  readonly paths: number;
  readonly definitions: number;
}) => readonly [before: Buffer, between: Buffer, after: Buffer];

/** A document of v2 with all that is built in, to which custom resources can be added without making it again. */
export interface BaseDocument extends Members {
  /** The whole document. The members are parts of it. */
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

/** The document with more members, as pieces that share the bytes of both. */
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

/** A hash of all bytes, one buffer behind the other, in hexadecimal. */
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
