import { USER_GROUP } from '../../shared/names';
import type { Authorizer, Verdict } from '../exchange/access';
import { firstOpinionOf } from './authorizer';

const ALLOWED: Verdict = { decision: 'allow', reason: '' };
const NO_OPINION: Verdict = { decision: 'no-opinion', reason: '' };
const EVERYTHING_FORBIDDEN: Verdict = { decision: 'no-opinion', reason: 'Everything is forbidden.' };

/** Members of the superusers' group may do everything, whatever the modes say. */
const superusers: Authorizer = async ({ user }) =>
  Promise.resolve(user.groups.includes(USER_GROUP.masters) ? ALLOWED : NO_OPINION);

const AUTHORIZER_OF_MODE = {
  AlwaysAllow: async () => Promise.resolve(ALLOWED),
  AlwaysDeny: async () => Promise.resolve(EVERYTHING_FORBIDDEN),
} as const satisfies Readonly<Record<string, Authorizer>>;

export type Mode = keyof typeof AUTHORIZER_OF_MODE;

/** The authorizers behind `--authorization-mode`, in order, with the superusers in front. */
export function authorizerOf(modes: readonly Mode[]): Authorizer {
  return firstOpinionOf([superusers, ...modes.map((mode) => AUTHORIZER_OF_MODE[mode])]);
}
