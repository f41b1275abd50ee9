/**
 * Why a patch was refused: `malformed` is no valid patch document (400), `failed` does not apply to this
 * object (422), `too-many` exceeds a limit on operations or work (413).
 */
export type PatchErrorKind = 'malformed' | 'failed' | 'too-many';

export class PatchError extends Error {
  readonly kind: PatchErrorKind;

  constructor(kind: PatchErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'PatchError';
    this.kind = kind;
  }
}

/** A `test` operation of a JSON patch failed. */
export class TestFailedError extends PatchError {
  constructor(message: string) {
    super('failed', message);
  }
}
