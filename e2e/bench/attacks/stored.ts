import { NOISY } from './victim';

/** The stored objects of the attacker: one of 1 MB, one of 60,000 keys, and a small one. */
export const BIG = `/api/v1/namespaces/${NOISY}/configmaps/big`;
export const WIDE = `/api/v1/namespaces/${NOISY}/configmaps/wide`;
export const SMALL = `/api/v1/namespaces/${NOISY}/configmaps/small`;

/** A namespace of the attacker with a webhook for ConfigMaps. */
export const HOOKED = 'noisy-hooked';

/** The id of an existing bootstrap token. */
export const BOOTSTRAP_TOKEN_ID = 'abcdef';
