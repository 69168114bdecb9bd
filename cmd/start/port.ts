import type { Logger } from '../../framework/contract/log.ts'
import { openPort, type Port } from '../../framework/server/port.ts'
import type { PreparedAuthentication } from '../authentication/authentication.ts'
import { allAuthorities } from '../certificates/authorities.ts'
import type { ServingFiles } from '../certificates/servingfiles.ts'
import { type Listening, listenError } from '../flags/serving.ts'

/** Opens the port that the flags name. What comes in waits for an answer. Throws `StartError` when it cannot be had. */
export async function openServingPort(
  options: Listening,
  { certificate, key }: ServingFiles,
  authentication: Pick<PreparedAuthentication, 'authorities'>,
  log: Logger,
): Promise<Port> {
  const clientCA = allAuthorities(authentication.authorities())
  const tls = { cert: certificate, key, ...(clientCA !== undefined && { clientCA }) }
  try {
    return await openPort({ host: options.bindAddress, port: options.port, tls, log })
  } catch (error) {
    throw listenError(error, options)
  }
}
