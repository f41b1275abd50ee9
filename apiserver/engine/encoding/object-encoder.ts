import type { StatusError } from '../../../shared/errors/status-error';
import type { ListMeta } from '../../../shared/object/object';
import type { ObjectEventType, Representation } from '../watch-cache/state/entry';
import type { Source } from './source';

/** Encodes the objects of one endpoint in one format and shape. Encodings of an entry are shared by all readers. */
export interface ObjectEncoder extends Representation {
  /** Whether encoding parses objects; otherwise it copies bytes. */
  readonly parses: boolean;
  /** Whether only the metadata is shown. */
  readonly showsMetadata?: boolean;
  /** The error to throw once the content is known; absent: none. */
  readonly refusal?: StatusError | undefined;
  /** Content type of objects and lists. */
  readonly contentType: string;
  /** Content type of watches. */
  readonly streamContentType: string;
  /** Encodes one object as a complete answer. */
  object(source: Source): Buffer;
  /** See {@link Representation}. */
  frame(type: ObjectEventType, source: Source): Buffer;
  /** Encodes the object as an element of a list. */
  element(source: Source): Buffer;
  /**
   * Encodes a list as a complete answer. Resolves when its first bytes can be sent. `offload` encodes large elements
   * in a worker; it is called for each element.
   */
  list(
    metadata: ListMeta,
    sources: readonly Source[],
    elsewhere?: OffloadedEncoder,
  ): Promise<Buffer | AsyncIterable<Buffer>>;
  /** Adapts the shared frames for one reader. */
  stream(frames: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
}

/** The part of an encoder that its format defines. */
export type FormatEncoder = Omit<ObjectEncoder, 'parses' | 'showsMetadata' | 'refusal'>;

/** Encodes an element in a worker; returns undefined for an element to encode on the event loop. */
export type OffloadedEncoder = (source: Source) => Promise<Buffer> | undefined;

/** The metadata of a bookmark; annotations mark the end of the initial events. */
export interface BookmarkMetadata {
  readonly resourceVersion: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The JSON of objects and lists; YAML is converted from it. */
export interface JsonShape {
  readonly id: string;
  /** See {@link Representation}. */
  readonly tellsAge?: boolean;
  /** The complete object. */
  object(source: Source): readonly Buffer[];
  /** The object in a watch frame. */
  inFrame(source: Source): readonly Buffer[];
  /** An object with only this metadata, for a bookmark. */
  bookmark(metadata: BookmarkMetadata): readonly Buffer[];
  /** Everything before the elements of a list, with the opening bracket; `]}` follows them. */
  listHead(metadata: ListMeta): string;
  /** An empty list is null, as Go encodes a nil slice. */
  readonly isNullWhenEmpty?: boolean;
  /** Sorts the elements of a list; absent: they keep their order. */
  inOrder?(sources: readonly Source[]): Promise<readonly Source[]>;
  /** Adds an element of a list. */
  element(batch: ElementSink, source: Source): void;
  /** Elements are ready-made bytes: each takes only the time to copy it. */
  readonly isReady?: boolean;
  stream(frames: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
}

/** Receives the pieces of an element. */
export interface ElementSink {
  text(text: string): void;
  /** The first `end` bytes. */
  bytes(bytes: Buffer, end?: number): void;
  byte(byte: number): void;
}
