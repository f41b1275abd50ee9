/** The size of a run. */
export interface RunSize {
  readonly writers: number;
  readonly listers: number;
  readonly watchersPerView: number;
  readonly allocators: number;
  readonly candidates: number;
  /** Informers through every replica and the balancer, including those of the other library; else through one replica each. */
  readonly allInformers: boolean;
  /** The maximum duration of a fault and of the quiet time after it. */
  readonly faultMsMax: number;
  readonly pauseMsMax: number;
  /** The duration of an epoch, after which the record is checked and the store replaced. */
  readonly epochMs: number;
  /** The minimum number of epochs, for runs of any duration. */
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
