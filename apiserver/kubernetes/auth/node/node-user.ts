import { NODE_USER } from '../../../../shared/names';
import type { UserInfo } from '../../../engine/request/exchange';

/** The name of the node that the user is the agent of, which may be empty; undefined for a user that is no node's agent. */
export function nodeOf({ name, groups }: Pick<UserInfo, 'name' | 'groups'>): string | undefined {
  if (!name.startsWith(NODE_USER.prefix) || !groups.includes(NODE_USER.group)) return undefined;
  return name.slice(NODE_USER.prefix.length);
}
