/** Whether the suites run at the sizes the project promises (`ORCH_E2E_SCALE=full`), or at sizes a laptop finishes in minutes. */
export const isFullScale: boolean = process.env['ORCH_E2E_SCALE'] === 'full';

/** Chooses the size for this run. */
export function sized(sizes: { readonly full: number; readonly small: number }): number {
  return isFullScale ? sizes.full : sizes.small;
}
