import type { Backend, StoredRecord } from '../../../engine/storage/backend';
import { defined } from '../../../../shared/defined';

/** Which object a value belongs to. Only the uid counts; the rest tells people whose it is. */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** One value and its owner, as the store holds them. */
export interface Claim {
  readonly value: string;
  readonly owner: Owner;
  /** The revision of the claim's last write. */
  readonly revision: number;
}

export type ClaimOutcome =
  /** `isNew`: this call made the claim; otherwise the owner had it already. */
  | { readonly ok: true; readonly revision: number; readonly isNew: boolean }
  | { readonly ok: false; readonly holder: Owner };

const LIST_PAGE_RECORDS = 1_000;

/**
 * One record in the store for each value that is taken, named by the value: that the store creates a key only once is what makes an
 * allocation unique over all replicas. Claims are outside the prefix of API objects, so that no cache or watch sees them.
 */
export class Claims {
  readonly #backend: Backend;
  readonly #prefix: string;

  /** `storePrefix` is that of the API objects (`/registry`), `kind` the name of the range (`clusterip`). */
  constructor(
    backend: Backend,
    { storePrefix, kind }: { readonly storePrefix: string; readonly kind: string },
  ) {
    this.#backend = backend;
    this.#prefix = `${storePrefix}.claims/${kind}/`;
  }

  /**
   * Makes the value the owner's. With `adopts`, a claim the owner already has is rewritten. Its new revision
   * makes a concurrent release, which was decided on an older version of the object, fail.
   */
  async claim(
    value: string,
    owner: Owner,
    { adopts }: { readonly adopts: boolean },
    signal: AbortSignal,
  ): Promise<ClaimOutcome> {
    const key = this.#prefix + value;
    const bytes = Buffer.from(JSON.stringify(owner));
    for (;;) {
      const created = await this.#backend.create(key, bytes, {}, signal);
      if (created.ok) return { ok: true, revision: created.revision, isNew: true };
      if (created.current === undefined) continue;
      const holder = ownerOf(created.current);
      if (!adopts || holder.uid !== owner.uid) return { ok: false, holder };
      const expected = created.current.revision;
      const touched = await this.#backend.update(key, bytes, { expected }, signal);
      if (touched.ok) return { ok: true, revision: touched.revision, isNew: false };
    }
  }

  async has(value: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#backend.get(this.#prefix + value, signal)).record !== undefined;
  }

  /** Makes the value the owner's in place of a claim that is known to be void; false when that claim has changed meanwhile. */
  async takeOver(claim: Claim, owner: Owner, signal: AbortSignal): Promise<boolean> {
    const bytes = Buffer.from(JSON.stringify(owner));
    const expected = claim.revision;
    return (await this.#backend.update(this.#prefix + claim.value, bytes, { expected }, signal)).ok;
  }

  /** Gives the value back, if the claim is still as it was at this revision. */
  async release(value: string, revision: number, signal: AbortSignal): Promise<boolean> {
    return (await this.#backend.delete(this.#prefix + value, revision, signal)).ok;
  }

  /** Releases the owner's value, unless it was claimed again after this revision. */
  async releaseBefore(
    value: string,
    { uid }: Pick<Owner, 'uid'>,
    revision: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { record } = await this.#backend.get(this.#prefix + value, signal);
    if (record === undefined || record.revision > revision || ownerOf(record).uid !== uid) return;
    await this.release(value, record.revision, signal);
  }

  /** All claims, page by page, in key order; with the revision of the newest page. */
  async *pages(
    signal: AbortSignal,
  ): AsyncGenerator<{ readonly claims: readonly Claim[]; readonly revision: number }> {
    let after: string | undefined;
    for (;;) {
      const options = { limit: LIST_PAGE_RECORDS, ...defined({ after }) };
      const { records, revision, remaining } = await this.#backend.list(this.#prefix, options, signal);
      yield { claims: records.map((record) => this.#claimOf(record)), revision };
      after = records.at(-1)?.key;
      if (remaining === 0 || after === undefined) return;
    }
  }

  #claimOf(record: StoredRecord): Claim {
    return {
      value: record.key.slice(this.#prefix.length),
      owner: ownerOf(record),
      revision: record.revision,
    };
  }
}

/** A record that cannot be parsed has no owner; repair removes it. */
function ownerOf({ value }: StoredRecord): Owner {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value.toString('utf8'));
  } catch {
    parsed = undefined;
  }
  const { namespace, name, uid } = (parsed ?? {}) as Partial<Record<keyof Owner, unknown>>;
  return { namespace: textOf(namespace), name: textOf(name), uid: textOf(uid) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
