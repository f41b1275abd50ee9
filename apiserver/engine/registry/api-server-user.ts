import { USER, USER_GROUP } from '../../../shared/names';
import type { UserInfo } from '../request/exchange';

/** The server's own identity for objects that it writes by itself. */
export const API_SERVER_USER: UserInfo = {
  name: USER.apiServer,
  uid: '',
  groups: [USER_GROUP.masters, USER_GROUP.authenticated],
  extra: {},
};
