import type { StatusError } from '../../../shared/errors/status-error';
import type { ListMeta } from '../../../shared/object/object';
import type { ObjectEventType, Representation } from '../watch-cache/state/entry';
import type { Source } from './source';

/** How the objects of one endpoint are written in one format and shape. What it made of an entry is shared by all who ask. */
export interface ObjectEncoder extends Representation {
  /** Whether objects are parsed to be written; otherwise their bytes are copied. */
  readonly parses: boolean;
  /** Whether objects are shown by their metadata alone. */
  readonly showsMetadata?: boolean;
  /** Why what is asked for cannot be shown in this form, told once it is there; absent: it can. */
  readonly refusal?: StatusError | undefined;
  /** Of single objects and lists. */
  readonly contentType: string;
  /** Of streams of frames. */
  readonly streamContentType: string;
  /** A complete answer with one object. */
  object(source: Source): Buffer;
  /** See {@link Representation}. */
  frame(type: ObjectEventType, source: Source): Buffer;
  /** The object as it stands in a list. */
  element(source: Source): Buffer;
  /**
   * A complete answer with a list. Resolves when its first bytes can be sent. `elsewhere` makes elements that are too large to be made
   * here; it is asked about each.
   */
  list(
    metadata: ListMeta,
    sources: readonly Source[],
    elsewhere?: OffloadedEncoder,
  ): Promise<Buffer | AsyncIterable<Buffer>>;
  /** The frames as one reader gets them. */
  stream(frames: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
}

/** What a format knows of itself. */
export type FormatEncoder = Omit<ObjectEncoder, 'parses' | 'showsMetadata' | 'refusal'>;

/** Has an element made by somebody else; undefined for one that is to be made here. */
export type OffloadedEncoder = (source: Source) => Promise<Buffer> | undefined;

/** How objects and lists look as JSON, which is also what YAML is made of. */
export interface JsonShape {
  readonly id: string;
  /** See {@link Representation}. */
  readonly tellsAge?: boolean;
  /** A complete object. */
  object(source: Source): readonly Buffer[];
  /** The same in a frame of a watch. */
  inFrame(source: Source): readonly Buffer[];
  /** An object that has only this metadata, for a bookmark. */
  bookmark(metadata: object): readonly Buffer[];
  /** Everything in front of the elements of a list, with the opening bracket; `]}` follows them. */
  listHead(metadata: ListMeta): string;
  /** A list without elements is null instead of empty, as Go writes a list that it never had to make. */
  readonly isNullWhenEmpty?: boolean;
  /** The order in which the elements of a list stand, if not the one that they come in. */
  inOrder?(sources: readonly Source[]): Promise<readonly Source[]>;
  /** The element of a list. */
  element(batch: ElementSink, source: Source): void;
  /** Elements are ready bytes: each takes no time but that of its bytes. */
  readonly isReady?: boolean;
  stream(frames: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
}

/** Takes the pieces of an element. */
export interface ElementSink {
  text(text: string): void;
  /** The first `end` bytes. */
  bytes(bytes: Buffer, end?: number): void;
  byte(byte: number): void;
}
