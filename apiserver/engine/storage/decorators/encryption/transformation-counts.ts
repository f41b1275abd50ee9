import { StorageError } from '../../backend';

export type Transformation = 'to_storage' | 'from_storage';
/** The result as a gRPC status name, as in v1.21: a service did not answer (`Unavailable`), or no key fits (`Unknown`). */
export type TransformationStatus = 'OK' | 'Unavailable' | 'Unknown';

/** Counts encryptions and decryptions by result. */
export class TransformationCounts {
  readonly #counts = new Map<`${Transformation} ${TransformationStatus}`, number>();

  add(transformation: Transformation, status: TransformationStatus): void {
    const key = `${transformation} ${status}` as const;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Counts a failure by its error. */
  addFailure(transformation: Transformation, error: unknown): void {
    const isOutage = error instanceof StorageError && error.code === 'unavailable';
    this.add(transformation, isOutage ? 'Unavailable' : 'Unknown');
  }

  *entries(): Generator<
    { readonly transformation: string; readonly status: string; readonly count: number },
    void
  > {
    for (const [key, count] of this.#counts) {
      const [transformation = '', status = ''] = key.split(' ');
      yield { transformation, status, count };
    }
  }
}
