import { NODE_USER } from '../../../../shared/names';
import type { UserInfo } from '../../../engine/request/exchange';

/** Returns the node name, possibly empty, of a kubelet's user; undefined for other users. */
export function nodeOf({ name, groups }: Pick<UserInfo, 'name' | 'groups'>): string | undefined {
  if (!name.startsWith(NODE_USER.prefix) || !groups.includes(NODE_USER.group)) return undefined;
  return name.slice(NODE_USER.prefix.length);
}
