/** An object whose bytes are in a slab. The slab replaces `bytes` when it moves them. */
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
 * A slab allocator: keeps many small buffers in few large ones, which is cheap for the garbage collector. Slabs double in size up to
 * {@link SLAB_BYTES}, so that a resource with few objects takes only kilobytes.
 *
 * A full slab that is less than half live is evacuated: its live tenants move to the current slab and get new `bytes`. Readers of the old
 * bytes keep the old slab in memory until they are done.
 */
export class Slabs {
  #current: Slab | undefined;
  #nextBytes = FIRST_SLAB_BYTES;
  #allocatedBytes = 0;
  #liveBytes = 0;
  #moves = 0;

  /** Memory of all slabs with live tenants, in bytes. */
  get allocatedBytes(): number {
    return this.#allocatedBytes;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  /** Number of moves so far. */
  get moves(): number {
    return this.#moves;
  }

  /** Copies `head` (ASCII) and `tail` into a slab and sets `bytes` of the tenant. */
  store(tenant: SlabTenant, head: string, tail: Buffer): void {
    const length = head.length + tail.length;
    const slab = this.#slabFor(length);
    const start = slab.usedBytes;
    slab.memory.write(head, start, 'latin1');
    tail.copy(slab.memory, start + head.length);
    this.#place(tenant, slab, length);
  }

  /** Frees the bytes of the tenant. A second call has no effect. */
  release(tenant: SlabTenant): void {
    const { slab } = tenant;
    if (slab === undefined) return;
    tenant.slab = undefined;
    slab.liveBytes -= tenant.bytes.length;
    this.#liveBytes -= tenant.bytes.length;
    if (slab !== this.#current && slab.liveBytes * 2 < slab.usedBytes) this.#evacuate(slab);
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
    if (current !== undefined && current.liveBytes * 2 < current.usedBytes) this.#evacuate(current);
    return this.#current;
  }

  #open(bytes: number): Slab {
    this.#allocatedBytes += bytes;
    return { memory: Buffer.allocUnsafeSlow(bytes), usedBytes: 0, liveBytes: 0, tenants: [] };
  }

  #place(tenant: SlabTenant, slab: Slab, length: number): void {
    const start = slab.usedBytes;
    tenant.bytes = slab.memory.subarray(start, start + length);
    tenant.slab = slab;
    slab.usedBytes += length;
    slab.liveBytes += length;
    slab.tenants.push(tenant);
    this.#liveBytes += length;
  }

  #evacuate(slab: Slab): void {
    const tenants = slab.tenants;
    slab.tenants = [];
    this.#allocatedBytes -= slab.memory.length;
    for (const tenant of tenants) {
      if (tenant.slab !== slab) continue;
      const { bytes } = tenant;
      this.#liveBytes -= bytes.length;
      const target = this.#slabFor(bytes.length);
      bytes.copy(target.memory, target.usedBytes);
      this.#place(tenant, target, bytes.length);
      this.#moves += 1;
    }
  }
}
