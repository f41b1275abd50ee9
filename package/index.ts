/** The package itself: a control plane in this process. `orch/testing` adds what tests need. */
export { startControlPlane } from './testing';
export type * from './types';
