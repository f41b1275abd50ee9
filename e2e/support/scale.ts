/** Whether suites run at full sizes (`ORCH_E2E_SCALE=full`, nightly), or at sizes for every change. */
export const isFullScale: boolean = process.env['ORCH_E2E_SCALE'] === 'full';

/** Chooses the size for this run. */
export function sized(sizes: { readonly full: number; readonly small: number }): number {
  return isFullScale ? sizes.full : sizes.small;
}
