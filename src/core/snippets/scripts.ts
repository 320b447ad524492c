/** Scripts in languages that come with HTTP, so nothing has to be installed. */
import { commentOf, JOB, type Snippet, type SnippetSubject } from './snippet.ts';

export function python({ name, url }: SnippetSubject): Snippet {
  const text = `${commentOf(name)}
import time
import urllib.error
import urllib.parse
import urllib.request

CHECK_IN = ${JSON.stringify(url)}


def check_in(suffix="", **fields):
    data = urllib.parse.urlencode(fields).encode()
    for wait in (1, 2, 4, 8, 0):
        try:
            urllib.request.urlopen(CHECK_IN + suffix, data, timeout=10).close()
            return
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                print("check-in refused:", error)
                return
        except OSError as error:
            print("check-in not delivered:", error)
        time.sleep(wait)


def job():
    pass  # what the job does


if __name__ == "__main__":
    check_in("/start")
    try:
        job()
    except BaseException as error:
        failed = not isinstance(error, SystemExit) or error.code not in (None, 0)
        check_in(s=int(failed), m=repr(error)[:256])
        raise
    check_in(s=0)`;
  return {
    kind: 'python',
    text,
    remarks: ['Put the work into job(). An exception is reported as an error, and raised all the same.'],
  };
}

/** Every character that PowerShell treats as a single quote, including typographic ones. */
const QUOTES = /['\u2018-\u201b]/g;

export function powershell({ name, url }: SnippetSubject): Snippet {
  const text = `${commentOf(name)}
$CheckIn = '${url.replace(QUOTES, '$&$&')}'

function Send-CheckIn([string]$Suffix, [hashtable]$Fields = @{}) {
  foreach ($Wait in 1, 2, 4, 8, 0) {
    try {
      $null = Invoke-RestMethod -Method Post -Uri ($CheckIn + $Suffix) -Body $Fields -TimeoutSec 10 -UseBasicParsing
      return
    } catch {
      Write-Warning "check-in not delivered: $_"
      Start-Sleep -Seconds $Wait
    }
  }
}

Send-CheckIn '/start'
try {
  $global:LASTEXITCODE = 0
  & '${JOB}'
  $Status = $LASTEXITCODE
  $Message = "exit status $Status"
} catch {
  $Status = 1
  $Message = "$_"
}
Send-CheckIn '' @{ s = $Status; m = $Message }
exit $Status`;
  return {
    kind: 'powershell',
    text,
    remarks: [`Put the job in place of ${JOB}; its exit status is reported, and stays that of the script.`],
  };
}
