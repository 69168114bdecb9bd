import type { UpstreamEndpoint } from '../../framework/contract/upstream.ts'
import { readKubeconfig } from '../../virtual/mounts/kubeconfig.ts'
import { readFlagFile } from './files.ts'
import { StartError } from './starterror.ts'

/** The server of a kubeconfig, without the path of a workspace. */
export async function readEndpoint(flag: string, path: string): Promise<UpstreamEndpoint> {
  const read = readKubeconfig(await readFlagFile(flag, path))
  if ('problem' in read) throw new StartError(`${path}: ${read.problem}: give ${flag} another file.`)
  return { ...read.endpoint, url: new URL(read.endpoint.url).origin }
}
