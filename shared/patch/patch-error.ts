/**
 * Why a patch was refused: `malformed` means it is no patch (400), `failed` that it does not fit this object (422), `too-many` that
 * it has more operations, or takes more work, than allowed (413).
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
