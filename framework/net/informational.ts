import { badGateway } from './failure.ts'

/** Responses with a status 1xx before the response to a request. */
const most = 16

/**
 * Counts the responses with a status 1xx to one request. The counter throws 502 for too many: a server that sends them without end
 * would keep the event loop busy for as long as it likes, and no time without data ends the request.
 */
export function countInformational(): () => void {
  let count = 0
  return () => {
    count++
    if (count > most) throw badGateway(`it has sent more than ${most} informational responses`)
  }
}
