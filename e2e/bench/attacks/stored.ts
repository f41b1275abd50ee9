import { NOISY } from './victim';

/** What the attacker has stored before: an object of 1 MB, one of 60,000 keys, and a small one. */
export const BIG = `/api/v1/namespaces/${NOISY}/configmaps/big`;
export const WIDE = `/api/v1/namespaces/${NOISY}/configmaps/wide`;
export const SMALL = `/api/v1/namespaces/${NOISY}/configmaps/small`;

/** A namespace of the attacker's whose ConfigMaps a webhook judges. */
export const HOOKED = 'noisy-hooked';

/** The name of a bootstrap token that there is. */
export const BOOTSTRAP_TOKEN_ID = 'abcdef';
