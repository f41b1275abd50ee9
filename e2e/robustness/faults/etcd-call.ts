import type { EtcdMember } from '../../../deploy/local/etcd-cluster';

/** The common fields of etcd's answers, in the form of its JSON gateway. */
export interface EtcdAnswer {
  readonly header: { readonly member_id: string; readonly revision: string };
}

const CALL_TIMEOUT_MS = 30_000;

/** Calls one member, for example `maintenance/status`. Throws if the answer is not 200. */
export async function callEtcd(member: EtcdMember, method: string, body: object): Promise<EtcdAnswer> {
  const answer = await fetch(`${member.clientUrl}/v3/${method}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${member.name} answered ${method} with ${String(answer.status)}: ${text}`);
  return JSON.parse(text) as EtcdAnswer;
}
