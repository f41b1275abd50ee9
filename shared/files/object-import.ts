/** The path at which an API server accepts stored objects of another server, one JSON object on each line. */
export const OBJECT_IMPORT_PATH = '/debug/import';
/** The most lines of one request. */
export const OBJECT_IMPORT_LINES_MAX = 1_000;

/** What an import did with the lines of one request. */
export interface ImportReport {
  /** How many objects are in the store now. */
  readonly stored: number;
  /** The others, in their order. */
  readonly refused: readonly RefusedObject[];
}

export interface RefusedObject {
  /** The number of the line, beginning with 0. */
  readonly line: number;
  /** `not served`: the server has no such kind, or not yet. */
  readonly kind: 'not served' | 'invalid';
  /** A sentence that names the object. */
  readonly reason: string;
}
