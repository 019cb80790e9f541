import { listed } from '../../../../shared/base/listed.ts';

export const polish = {
  nods: listed(
    'ach naprawdę|naprawdę|dobrze wiedzieć|ciekawe|o jak miło|o wow|to świetnie|to dobrze|to ciekawe|ach rozumiem|ach tak|ach okej|no to dobrze|bardzo ładnie|o dobrze|o świetnie|o super|no super',
    'dobrze to wiedzieć|cieszę się|to mnie cieszy|miło słyszeć|miło to słyszeć|jak miło|jak fajnie|wspaniale|cudownie|fantastycznie|rewelacja|rewelacyjnie|znakomicie|wyśmienicie|ekstra|bomba|pięknie',
    'brzmi dobrze|brzmi świetnie|brzmi super|brzmi rozsądnie|to brzmi dobrze|pasuje|pasuje mi|to mi pasuje|odpowiada mi|to jest w porządku|to okej|to idealnie|idealnie|to prawda|to racja|to się zgadza',
    'bardzo pomocne|to pomocne|przydatne|bardzo ciekawe|naprawdę ciekawe|jakie to ciekawe|jakie to miłe|bardzo miło|o rany|o boże|o matko|ojej|o jejku|no co pan|no coś takiego|nie do wiary|poważnie|serio|a serio',
    'ach tak rozumiem|a tak|a to tak|a więc tak|no proszę|no patrz|no pięknie|okej dobrze|okej super|okej świetnie|okej jasne|okej rozumiem|wszystko jasne|wszystko dobrze|no i dobrze|i bardzo dobrze',
    'tak tak oczywiście|tak oczywiście|tak dokładnie|tak zgadza się|tak jasne|tak właśnie|tak rozumiem|tak wiem|tak dobrze|tak super|dokładnie tak|właśnie tak|ma pan rację|ma pani rację|masz rację|słuszna uwaga|dobry pomysł|świetny pomysł',
    'logiczne|to logiczne|to ma sens|zrozumiałe|to zrozumiałe|teraz rozumiem|teraz już rozumiem|już rozumiem|doskonale rozumiem|rozumiem to|wiem o tym|tak wiem o tym|nie wiedziałem|nie wiedziałam|tak myślałem|tak myślałam|domyślałem się|zgadzam się|też tak myślę|rozumiem co pan ma na myśli',
    'bez wątpienia|zdecydowanie|absolutnie|ewidentnie|istotnie|no tak oczywiście|no raczej|no pewnie|chwała bogu|dzięki bogu|na szczęście|całe szczęście|co za ulga|uff|niezły|całkiem nieźle|żaden kłopot|bez problemu',
  ),
  interruptions: listed(
    'stop|proszę poczekać|chwileczkę|nie|nie nie nie|nie dziękuję|nie ten|przepraszam|słucham co|jak to|co|co pan powiedział|może pan powtórzyć|proszę powtórzyć|wolniej proszę|głośniej proszę|nie słyszę pana|co pan ma na myśli|co to jest',
    'kto mówi|ile|ile to kosztuje|jak długo to trwa|kiedy to jest|gdzie to jest|który|dlaczego nie teraz|dlaczego|o której|w piątek|w poniedziałek proszę|o siódmej|dla czterech osób|raczej pięć|ten niebieski|ten drugi|ten tańszy|raczej jutro|w przyszłym tygodniu',
    'właściwie nie|zmieniłem zdanie|proszę anulować|anulować zamówienie|proszę zapomnieć|zostawmy to|nie chcę tego|nie potrzebuję tego|to źle|to nieprawda|nie o to pytałem|to nie moje nazwisko|nazywam się Anna|to Kowalski|nie Nowak|miałem na myśli wtorek|powiedziałem piętnaście',
    'mogę o coś zapytać|mogę z kimś porozmawiać|chcę rozmawiać z człowiekiem|proszę połączyć z konsultantem|mam pytanie|jedno pytanie|jeszcze coś|ale już zapłaciłem|ale zaraz|ale to za późno|ale dlaczego|tak ale nie dzisiaj|dobrze ale ile|potrzebuję pomocy|proszę mi pomóc|chcę zwrot pieniędzy|chcę zapłacić',
    'chcę zarezerwować|potrzebuję faktury|proszę wysłać mailem|proszę oddzwonić|proszę wrócić|proszę to pominąć|dalej|od początku|cisza|proszę mnie posłuchać|halo|jest pan tam|czy jest parking|czy śniadanie jest wliczone|czy teraz otwarte|czy to dodatkowo płatne|a w niedzielę|raczej o szóstej|za drogo|za późno|za wcześnie',
    'dwa bilety|trzy noce|z widokiem|bez cebuli|do Warszawy|z lotniska|kartą|gotówką|z żoną|inny adres|zepsuło się|nie działa|spieszę się|muszę iść|prowadzę samochód|nie skończyłem|proszę dać mi skończyć',
  ),
};
