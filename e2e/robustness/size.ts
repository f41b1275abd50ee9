/** How much of everything a run has. */
export interface RunSize {
  readonly writers: number;
  readonly listers: number;
  readonly watchersPerView: number;
  readonly allocators: number;
  readonly candidates: number;
  /** Through every replica and the balancer, with those of the other library; else through one replica each. */
  readonly allInformers: boolean;
  /** The longest time that one fault lasts, and the longest quiet after it. */
  readonly faultMsMax: number;
  readonly pauseMsMax: number;
  /** A store is followed for so long, then its record is checked and it is replaced by another. */
  readonly epochMs: number;
  /** At least so many, however short the run. */
  readonly epochsMin: number;
}

export const FULL_SIZE: RunSize = {
  writers: 12,
  listers: 3,
  watchersPerView: 2,
  allocators: 3,
  candidates: 3,
  allInformers: true,
  faultMsMax: 8_000,
  pauseMsMax: 3_000,
  epochMs: 8 * 60_000,
  epochsMin: 1,
};

export const SMALL_SIZE: RunSize = {
  writers: 6,
  listers: 1,
  watchersPerView: 1,
  allocators: 1,
  candidates: 2,
  allInformers: false,
  faultMsMax: 1_500,
  pauseMsMax: 500,
  epochMs: 12_000,
  epochsMin: 2,
};
