import { GROUP } from '../../../shared/names';
import { certificateRequests } from './certificate-requests-strategy';
import { signingRequestRow } from './columns';
import type { KindGroup } from '../kind';

export const certificates: KindGroup = {
  group: GROUP.certificates,
  kinds: {
    certificatesigningrequests: { strategy: certificateRequests, row: signingRequestRow },
  },
};
