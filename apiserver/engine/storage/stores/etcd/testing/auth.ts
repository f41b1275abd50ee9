import { postTo } from './gateway';

/** Switches etcd's authentication on: `root`/`secret`, and `narrow`/`narrow`, who may only touch keys below /registry/. */
export async function enableAuth(etcdUrl: string): Promise<void> {
  const post = async (path: string, body: object): Promise<unknown> => postTo(etcdUrl, path, body);
  await post('/v3/auth/role/add', { name: 'root' });
  await post('/v3/auth/user/add', { name: 'root', password: 'secret' });
  await post('/v3/auth/user/grant', { user: 'root', role: 'root' });
  await post('/v3/auth/role/add', { name: 'narrow' });
  const perm = { permType: 'READWRITE', key: base64('/registry/'), range_end: base64('/registry0') };
  await post('/v3/auth/role/grant', { name: 'narrow', perm });
  await post('/v3/auth/user/add', { name: 'narrow', password: 'narrow' });
  await post('/v3/auth/user/grant', { user: 'narrow', role: 'narrow' });
  await post('/v3/auth/enable', {});
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
