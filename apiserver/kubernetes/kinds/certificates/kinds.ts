import { certificateRequests } from './certificate-requests-strategy';
import { signingRequestTable } from './columns';
import { kindsOf } from '../kind';

export const certificates = kindsOf('certificates', {
  certificatesigningrequests: { strategy: certificateRequests, table: signingRequestTable },
});
