import { httpContract } from '../../../contract/http/index.js';
import { httpSuite, runHttpContract } from '../http-suite.js';
import { sharedService } from '../support.js';

httpSuite('the contract', (start) => {
  // One case waits for this timeout.
  runHttpContract(httpContract, sharedService(start, { HEADERS_TIMEOUT: '5s' }));
});
