/** What lives in a slab: something with bytes that knows where they are. The slab may replace `bytes` when it moves them. */
export interface SlabTenant {
  bytes: Buffer;
  slab: Slab | undefined;
}

export interface Slab {
  readonly memory: Buffer;
  usedBytes: number;
  liveBytes: number;
  tenants: SlabTenant[];
}

export const SLAB_BYTES = 1024 * 1024;
const FIRST_SLAB_BYTES = 4 * 1024;

/**
 * Keeps many small buffers in few large ones, which the garbage collector passes over quickly. The first slab is small and each
 * next one twice as large up to {@link SLAB_BYTES}, so that a resource with three objects costs kilobytes.
 *
 * A slab that is no longer filled and less than half live is emptied: its live tenants move to the current slab and get new
 * `bytes`. Whoever still holds the old bytes may go on reading them; the old slab goes when the last such reader is gone.
 */
export class Slabs {
  #current: Slab | undefined;
  #nextBytes = FIRST_SLAB_BYTES;
  #allocatedBytes = 0;
  #liveBytes = 0;
  #moves = 0;

  /** Memory of all slabs that hold something live, in bytes. */
  get allocatedBytes(): number {
    return this.#allocatedBytes;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** How many tenants were moved so far. */
  get moves(): number {
    return this.#moves;
  }

  /** Copies `head` (ASCII) and `tail` one behind the other into a slab and hands the place to `tenant`. */
  store(tenant: SlabTenant, head: string, tail: Buffer): void {
    const length = head.length + tail.length;
    const slab = this.#slabFor(length);
    const start = slab.usedBytes;
    slab.memory.write(head, start, 'latin1');
    tail.copy(slab.memory, start + head.length);
    this.#settle(tenant, slab, length);
  }

  /** The tenant is not needed any more. Releasing twice does nothing. */
  release(tenant: SlabTenant): void {
    const { slab } = tenant;
    if (slab === undefined) return;
    tenant.slab = undefined;
    slab.liveBytes -= tenant.bytes.length;
    this.#liveBytes -= tenant.bytes.length;
    if (slab !== this.#current && slab.liveBytes * 2 < slab.usedBytes) this.#empty(slab);
  }

  #slabFor(length: number): Slab {
    const current = this.#current;
    if (current !== undefined && current.usedBytes + length <= current.memory.length) return current;
    if (length * 4 > this.#nextBytes) {
      if (length * 4 > SLAB_BYTES) return this.#open(length);
      while (length * 4 > this.#nextBytes) this.#nextBytes *= 2;
    }
    const next = this.#open(this.#nextBytes);
    this.#nextBytes = Math.min(this.#nextBytes * 2, SLAB_BYTES);
    this.#current = next;
    if (current !== undefined && current.liveBytes * 2 < current.usedBytes) this.#empty(current);
    return this.#current;
  }

  #open(bytes: number): Slab {
    this.#allocatedBytes += bytes;
    return { memory: Buffer.allocUnsafeSlow(bytes), usedBytes: 0, liveBytes: 0, tenants: [] };
  }

  #settle(tenant: SlabTenant, slab: Slab, length: number): void {
    const start = slab.usedBytes;
    tenant.bytes = slab.memory.subarray(start, start + length);
    tenant.slab = slab;
    slab.usedBytes += length;
    slab.liveBytes += length;
    slab.tenants.push(tenant);
    this.#liveBytes += length;
  }

  #empty(slab: Slab): void {
    const tenants = slab.tenants;
    slab.tenants = [];
    this.#allocatedBytes -= slab.memory.length;
    for (const tenant of tenants) {
      if (tenant.slab !== slab) continue;
      const { bytes } = tenant;
      this.#liveBytes -= bytes.length;
      const target = this.#slabFor(bytes.length);
      bytes.copy(target.memory, target.usedBytes);
      this.#settle(tenant, target, bytes.length);
      this.#moves += 1;
    }
  }
}
