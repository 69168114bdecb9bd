import { get } from 'node:https'
import { text } from 'node:stream/consumers'

/** What `/readyz?verbose` says, whatever the certificate is; '' when nobody answers. */
export const readiness = (url: string): Promise<string> =>
  new Promise(resolve => {
    get(`${url}/readyz?verbose`, { rejectUnauthorized: false, agent: false }, answer =>
      text(answer).then(resolve, () => resolve('')),
    ).on('error', () => resolve(''))
  })
