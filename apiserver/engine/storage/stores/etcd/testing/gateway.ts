/** Calls a procedure of etcd by its gateway for JSON. Throws what it says when it refuses. */
export async function postTo(etcdUrl: string, path: string, body: object): Promise<unknown> {
  const answer = await fetch(new URL(path, etcdUrl), { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${String(answer.status)} ${await answer.text()}`);
  return answer.json();
}
