import { listed, spaced } from '../base/listed.ts';
import type { Language } from './language.ts';

const orders =
  'zarezerwuj|rezerwuj|wyślij|zapłać|przelej|zamów|zrób|dodaj|usuń|zadzwoń|włącz|wyłącz|zablokuj|odblokuj|potwierdź|anuluj|połącz|kup|weź|użyj|otwórz|zamknij|zapisz|umów|przełóż|kontynuuj|zmień|proszę';

export const polish: Language = {
  code: 'pl',
  name: 'Polish',
  lines: {
    fillers: ['Chwileczkę, proszę.', 'Już sprawdzam.', 'Jeszcze sekunda.', 'Proszę o chwilę cierpliwości.'],
    apology: 'Przepraszam, coś poszło nie tak. Czy można prosić o powtórzenie?',
    misheard: 'Przepraszam, nie dosłyszałem. Czy można prosić o powtórzenie?',
    farewell: 'Do widzenia.',
    hold: 'Niestety nadal jest problem. Proszę pozostać na linii.',
    back: 'Dziękuję za cierpliwość.',
    unheardNote: '[Rozmówca nie usłyszał twojej odpowiedzi. Podaj ją teraz.]',
    announcement: '',
    idleQuestion: 'Czy nadal jesteśmy w kontakcie?',
    confirmQuestion: 'Czy mam to zrobić?',
    keysNote: '[Rozmówca nacisnął klawisze: {digits}]',
    returnLine: 'Przepraszam, nikt nie mógł odebrać połączenia. W czym jeszcze mogę pomóc?',
    operatorLost:
      'Przepraszam, połączenie z moim kolegą zostało przerwane. Znowu rozmawiamy razem. W czym mogę pomóc?',
  },
  backchannels: listed(
    'tak|no|no tak|tak tak|aha|ok|okej|okay|oki|dobrze|dobra|no dobrze|no dobra|w porządku|jasne|pewnie|oczywiście|rozumiem|zrozumiałem|zrozumiałam',
    'zrozumiano|wiem|właśnie|no właśnie|dokładnie|zgadza się|zgoda|racja|słusznie|prawda|to prawda|świetnie|super|fajnie|spoko|bardzo dobrze|doskonale',
    'naturalnie|faktycznie|rzeczywiście|no jasne|ma sens|to ma sens|już wiem|jest|ta|jo|proszę bardzo|słucham',
    'nie ma problemu|nie ma sprawy|nieźle|nie szkodzi|żaden problem',
  ),
  nods: {
    core: spaced(
      'naprawdę ciekawe interesujące dobrze dobra świetnie super ekstra fajnie wspaniale wspaniały cudownie fantastycznie rewelacja rewelacyjnie',
      'znakomicie doskonale idealnie pięknie ładnie miło miłe miły przydatne pomocne praktyczne logiczne rozsądnie zrozumiałe jasne pewnie',
      'oczywiście naturalnie dokładnie właśnie prawda racja rację słusznie zgadza zgoda zgadzam rozumiem zrozumiałem zrozumiałam wiem tak no okej ok',
      'aha sens pasuje odpowiada cieszę cieszy szczęście ulga serio poważnie niesamowite niesamowicie niewiarygodne zdecydowanie absolutnie',
      'ewidentnie istotnie faktycznie rzeczywiście boże rany matko jejku ojej wow łał śmieszne zabawne dziwne brzmi myślałem myślałam domyślałem',
      'domyślałam uspokajające uff bomba niezły nieźle słyszę fascynujące zaskakujące urocze szkoda smutne przykre przykro uprzejme sympatyczne',
      'hojne ekscytujące wzruszające wyjątkowe nadzwyczajne kompletnie całkowicie zupełnie prawdopodobnie spodziewałem spodziewałam uczciwie',
      'ekscytująco sprytne mądre mądrze wrażeniem wrażenie zaskoczony zdumiony wzruszony wdzięczny zadowolony przekonany zapomniałem zapomniałam',
      'słyszałem słyszałam zauważyłem liczyłem wierzyłem przypuszczałem przyjemnie eleganckie pyszne zachęcające obiecujące odświeżające tragiczne',
      'absurdalne szalone wiadomości działa miła całkowitą sensowne trafne solidne hura jupi au oj ojoj fe fuj ups o rety kurczę kurde cholera',
      'psiakrew masakra szok brawo gratulacje gratuluję niezłą szokujące wstrząsające kapitalne genialne bajecznie bajka cudo obłęd odlot odlotowo',
      'zarąbiście zachwycające smutno śliczne wyśmienicie pyszności kosmos klasa pech hit czad luz spoko heca',
    ),
    inflection: /(?:[yiae]|ego|ej|ym|im|ie)$/u,
    light: spaced(
      'dziękuję dzięki ach o a oj to jest się mnie mi ja pan pani i bardzo już teraz też całkiem wszystko w porządku ma masz słyszeć wiedzieć tego',
      'tym więc pomysł uwaga wiadomość taki takie moja mój dla sobie był było jestem',
      'lepiej bardziej',
      'jesteś są była byli pod nad z na do od przy ono on ona my wy oni nam wam byłoby miałem miałam mają być mniej dość dosyć',
      'niezwykle ogromnie tutaj',
      'rzecz rzeczy gest plan wybór oferta historia niespodzianka rozwiązanie',
    ),
    exclaiming: spaced('jak jakie jaki jaka ale'),
    inverting: [],
    wondering: listed(
      'naprawdę|ach naprawdę|serio|a serio|poważnie|ach tak|a tak|czyżby|doprawdy|tak|prawda|co pan powie|co pani powie',
    ),
    phrases: listed(
      'no co pan|no co pani|no coś takiego|coś takiego|nie do wiary|nie może być|no nie mów|no proszę|no patrz|no popatrz|nie wiedziałem',
      'nie wiedziałam|tego nie wiedziałem|tego nie wiedziałam|tak myślałem|tak myślałam|domyślałem się|domyślałam się|rozumiem co pan ma na myśli',
      'rozumiem co pani ma na myśli|wiem o co chodzi|rozumiem o co chodzi|bez wątpienia|no raczej|chwała bogu|dzięki bogu|na szczęście',
      'całe szczęście|co za ulga|co za szczęście|żaden kłopot|żaden problem|bez problemu|bez problemów|nie szkodzi|nie ma problemu|nie ma sprawy',
      'wiem o tym|wyobrażam sobie|mogę sobie wyobrazić|to wyjaśnia|to wszystko wyjaśnia|nic dziwnego|słucham dalej|podoba mi się|co za niespodzianka',
      'tym lepiej|notuję|zanotowałem|to dla mnie nowość|też tak myślę|tak myślę|też tak uważam|jeszcze lepiej',
      'jaka szkoda|wielka szkoda|tak jak myślałem|tak jak myślałam|spodziewałem się|spodziewałam się|wiedziałem|wiedziałam|nie wierzę|kto by pomyślał|trudno uwierzyć',
      'jestem pod wrażeniem|pod wrażeniem',
      'no coś ty|coś ty|co ty|co ty powiesz|co pan powie|a niech mnie|niech mnie|a niech to|niech to|proszę proszę|no proszę proszę|no i proszę',
      'no to ładnie|no nieźle|no pięknie|w głowie się nie mieści|nie mieści się w głowie|to się w głowie nie mieści|nie do pomyślenia',
      'nie do uwierzenia|kto by się spodziewał|kto by przypuszczał|nie spodziewałem się|nie spodziewałam się|tego się nie spodziewałem',
      'nie miałem pojęcia|nie miałam pojęcia|pierwsze słyszę|co za życie|takie życie|samo życie|trudno się mówi|trudno|bywa|zdarza się',
      'najwyższy czas|nareszcie|święte słowa|święta prawda|otóż to|no właśnie|no jasne|a jakże|znam to|znam ten ból|wiem coś o tym|rozumiem pana',
      'rozumiem panią|współczuję|bardzo współczuję|a to dobre|dobre sobie|ale jaja|ale numer|ale heca|ładna historia|o proszę|biedactwo|biedak',
      'biedaczek|biedny człowiek|jezus maria|chryste panie|boże drogi|ja cię|o ja cię',
      'jak okropnie|jak strasznie|jakie to straszne|jakie to okropne',
      'a to dlatego',
    ),
    shapes: listed(
      'co za …|cóż za …|jaka *|jaki *|jakie *|jaka * *|jaki * *|jakie * *|jakie to *|jaka to *|jaki to *|jak *|ależ …|jakież …|no co *|a to dopiero',
      'to *ące|to *szne|to *sujące|to bardzo *|to naprawdę *|brzmi *|to brzmi *|bardzo *|boże *|mój boże|biedn*|to dopiero *|święta *|święty *',
      'wygląda *|to wygląda *|niezł*|niezł* *|ach jak *|piękny *|piękna *|piękne *|świetny *|świetna *|wow …|łał …|rany …|matko …|o matko …|o rany …',
      'o rety …|ojej …|jejku …|kurczę …|kurde …|o kurczę …|uff …|no proszę …',
    ),
    telling: spaced(
      '*sz *my *cie *łem *łam *łeś *łaś był była było były mają ma robi leci idzie wysok* głębok* szerok* godzina godzinę godzinie data numer numeru',
      'cena ceny kolor rozmiar adres nazwa nazwisko dzień dniu opcja jest są koszt koszty długo często daleko szybko dużo to się mam masz można mogę',
      'późno wcześnie wysoko duży duże stary pan pani zapłacić dojechać działa nazywa ja my ty on ona oni nie w na do od z za po przy o u dla bez',
      'kiedy gdzie co kto ile który która jutro dziś dzisiaj wczoraj teraz potem później poniedziałek wtorek środa czwartek piątek sobota niedziela',
      'moje twoje nasze pana złe zły zła pilne błędne darmowe zepsute nie* drogo drogie mało inne inny inna drugie drugi druga czwarte pierwsze',
      'trzecie ostatnie następne głośno cicho wolno wolniej głośniej możliwe zamknięte ważne konieczne potrzebne czerwone czarne zielone nowe',
      'służbowe domowe zbiorowe rano wieczorem oczywiście mieście miejsce miejscu proszę chcę chciałbym chciałabym potrzebuję muszę źle tani tanio',
      'piątej szóstej siódmej ósmej dziewiątej dziesiątej trzeciej czwartej drugiej pierwszej jedenastej dwunastej innego jednak a i czy ten ta',
      'tamten bo ale szkole banku okropne straszne koszmarne fatalne',
      'formularz umowa umowę ubezpieczenie ubezpieczalnia firma firmę konto karta kartę faktura fakturę link kod hasło taryfa bank oddział termin',
      'lek lekarz produkt model marka kwota sposób',
    ),
  },
  goodbyes: listed(
    'do widzenia|dowidzenia|pa|pa pa|cześć|na razie|do usłyszenia|do zobaczenia|dziękuję|dziękuję bardzo|bardzo dziękuję|dzięki|dzięki wielkie|dziękuję pani',
    'dziękuję panu|miłego dnia|miłego wieczoru|dobranoc|dobrego dnia|nawzajem|wzajemnie|i wzajemnie|dziękuję wzajemnie|wszystkiego dobrego|również|pozdrawiam',
  ),
  urgent: spaced(
    'nie stop stój czekaj poczekaj zaczekaj chwila chwileczkę moment zaraz dość co kto kiedy gdzie jak dlaczego czemu który która które ile przepraszam',
  ),
  hesitations: spaced(
    'yyy yy eee ee ymm hmm hm mmm um em i a ale albo lub oraz bo ponieważ gdyż że żeby aby jeśli jeżeli gdy czy w we z ze na do od dla o u po pod nad',
    'przed przez przy za między bez mój moja moje mojego moją nasz nasza bardzo jakby znaczy',
  ),
  doubtful: spaced(
    'to ten ta więc no może jeszcze też jest są jestem mam się mi ja my już właściwie chyba tego tam tu jako jak co kiedy który która',
  ),
  leadingEnd: undefined,
  begun: listed(
    'chciałbym|chciałabym|chcę|chciałbym się|chciałabym się|potrzebuję|nazywam się|mam na imię|moje nazwisko to|mój numer to|numer to|jestem|szukam|dzwonię w|dzwonię w sprawie',
    'czy może|czy mogę|czy mógłby|czy mogłaby|czy mógłbym|czy mogłabym|czy jest|czy są|czy pan|czy pani|wydaje mi się|myślę że|to znaczy|chodzi o|w sprawie',
    'z drugiej strony|z jednej strony|po pierwsze|na przykład|szczerze mówiąc|innymi słowy|w moim przypadku|jeśli to możliwe|problem w tym że|pytanie brzmi|a potem|i potem|coś w rodzaju|coś w stylu|mój adres to|szukamy|potrzebujemy|chcielibyśmy',
  ),
  openings: listed(
    'em|no więc|więc|tak więc|a więc|otóż|no to|znaczy|to znaczy|znaczy się|wie pan|wie pani|wiesz|proszę pana',
    'proszę pani|jakby|w sumie|w zasadzie|właściwie|powiedzmy|ale|nazywam się|mam na imię|moje nazwisko to|mój numer to|numer to',
  ),
  shortQuestions: listed(
    'do kiedy|od kiedy|na kiedy|o której|o której godzinie|do której|do której godziny|z kim|dla kogo|skąd|dokąd|po co|dlaczego nie|co jeszcze|kto jeszcze',
  ),
  thinking: listed(
    'niech pomyślę|niech się zastanowię|niech zobaczę|niech spojrzę|niech sprawdzę|zaraz zobaczę|zaraz sprawdzę|już sprawdzam|już patrzę|sprawdzam|zobaczmy|pomyślmy|muszę pomyśleć|muszę się zastanowić|muszę sprawdzić|muszę poszukać|muszę zobaczyć|muszę zajrzeć|zastanawiam się',
    'szukam|właśnie szukam|chwila|chwileczkę|chwileczka|chwilkę|chwilka|jedną chwilę|jedną chwileczkę|momencik|moment|jeden moment|sekunda|sekundę|sekundkę|sekundka|jedną sekundę|minutkę|minutka|minutę|proszę chwilę poczekać|proszę chwileczkę poczekać|proszę czekać|proszę poczekać',
    'poczekaj|czekaj|zaraz|zaraz zaraz|proszę o chwilę|proszę o moment|proszę dać mi chwilę|proszę dać mi sekundę|daj mi chwilę|jak to się mówi|jak to powiedzieć|dobre pytanie|to dobre pytanie',
    'chwila moment|niech no zobaczę|zaraz znajdę|już szukam|muszę się chwilę zastanowić|jak by to powiedzieć|jakby to powiedzieć|momencik proszę|chwileczkę proszę|moment proszę',
    'zaraz wracam|już wracam|zaraz wrócę',
  ),
  askingForTime: {
    moments: spaced(
      'sekundy sekund minuty minut chwila chwilę chwilkę chwileczkę moment momencik sekunda sekundę sekundkę minuta minutę minutkę cierpliwości cierpliwość rozłączać rozłączaj rozłącza',
      'poczekać zaczekać',
    ),
    granting: spaced('trochę dwa kilka proszę dać mi daj jedną jeszcze o dwie tylko może pan pani się nie'),
    own: listed(
      'muszę|biorę|wezmę|już|właśnie|zapytam|spytam|znajdę|otworzę|otwieram|szukam|sprawdzę|sprawdzam|wyjmę|poszukam|zajrzę|niech|tylko|zaraz|pójdę',
      'podejdę|zejdę|wejdę|włączę|uruchomię|idę|przełączę',
    ),
    looks: spaced(
      'znaleźć znajdę szukam szukać poszukać poszukam sprawdzić sprawdzę sprawdzam zobaczyć zobaczę zajrzeć zajrzę patrzę',
    ),
    takes: spaced(
      'biorę wezmę wziąć wyjmę wyjąć otworzę otworzyć otwieram zapytam zapytać spytam spytać przynieść przyniosę zalogować zaloguję pójdę',
      'podejdę zejdę wejdę włączyć włączę uruchomić uruchomię idę iść przełączę',
    ),
    things: spaced(
      'kalendarzu listę kartę karty okulary długopis ołówek kartkę papier paszport portfel list listu maila mail e-mail aplikację dowód dokument dokumenty dokumentów fakturę',
      'rachunek kalendarz kalendarza notatki notatek kopertę żonę żony męża szefa szefową kolegę mamę tatę syna córkę paragon',
      'biurka biurku komputer laptopa laptop szuflady górę dół piętro głośnik głośnomówiący kartki',
    ),
    after: spaced('to tylko szybko najpierw zaraz się go ją jeszcze', 'do po na tej ten tę'),
  },
  corrections: listed(
    'nie przepraszam|przepraszam nie|nie czekaj|nie to znaczy|to znaczy nie|a nie|nie nie|poprawka|chciałem powiedzieć|chciałam powiedzieć',
  ),
  isLearned: false,
  numbers: {
    asked: String.raw`numer|cyfr|referenc|\bkod|liter|przeliter|pesel|\bnip\b|rejestrac|hasło|e-?mail|mailow|\b(?:pin|iban)\b`,
    spelled: String.raw`przeliter|literow|litera po literze`,
    counted: 'cyfr(?:y|owy|owego|owym)?|znak(?:ów|i)|liter[ay]?|cyfrow\\p{L}+',
    values: spaced(
      'zero jeden/jedna/jedno dwa/dwie/dwu trzy/trzech cztery/czterech/cztero pięć/pięciu/pięcio sześć/sześciu/sześcio siedem/siedmiu/siedmio osiem/ośmiu/ośmio dziewięć/dziewięciu/dziewięcio dziesięć/dziesięciu/dziesięcio',
      'jedenaście/jedenastu dwanaście/dwunastu trzynaście/trzynastu czternaście/czternastu piętnaście/piętnastu szesnaście/szesnastu siedemnaście osiemnaście dziewiętnaście',
      'dwadzieścia dwadzieścia-jeden dwadzieścia-dwa dwadzieścia-trzy dwadzieścia-cztery dwadzieścia-pięć dwadzieścia-sześć dwadzieścia-siedem dwadzieścia-osiem dwadzieścia-dziewięć trzydzieści',
    ),
    digits: [],
    tens: spaced('czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt'),
    pairs: [],
    double: spaced('podwójne podwójny dwukrotnie'),
    triple: spaced('potrójne trzykrotnie'),
    between: spaced('i myślnik kreska minus kropka spacja łącznik potem dalej yyy eee'),
    mailAsked: 'e-?mail|mailow|poczt\\p{L}* elektroniczn',
    joints: spaced('kropka myślnik podkreślnik podkreślenie kreska minus'),
    ats: spaced('małpa małpka at'),
  },
  sentences: {
    abbreviations: spaced(
      'np ul al pl os nr tel dr prof mgr inż itd itp tzn tzw m.in św godz min maks ks płk gen śp pt zob por woj',
    ),
    lastAbbreviations: spaced('itd itp'),
    openers: spaced(
      'ja pan pani my wy oni to ten ta czy jest są mam może proszę dziękuję i ale jeśli więc nie tak',
    ),
    leadsOn: spaced(
      'i a ale albo lub oraz bo że żeby aby jeśli gdy czy w we z ze na do od dla o u po pod nad przed przez przy za między bez',
      'ja pan pani my się jest są nie bardzo mój moja moje ten ta to te',
    ),
    beforeOrdinal: spaced('dnia do od na około przed po godz'),
    afterOrdinal: [],
  },
  answers: {
    yes: listed(
      'tak|tak tak|no tak|jasne|pewnie|oczywiście|dobrze|dobra|ok|okej|okay|zgoda|zgadzam się|zgadza się|dokładnie|właśnie|potwierdzam|potwierdzone|w porządku',
      'naturalnie|jak najbardziej|koniecznie|na pewno|proszę to zrobić|proszę tak zrobić|proszę zrobić|proszę kontynuować|śmiało|poprawnie|racja|słusznie|spoko|super',
    ),
    no: listed(
      'nie|nigdy|żaden|żadne|żadnego|stop|stój|czekaj|poczekaj|proszę czekać|proszę poczekać|chwileczkę|chwila|anuluj|anulować|źle|błąd|rezygnuję|zapomnij|daj spokój',
      'odwołaj|wcale|skądże|zostaw',
      'oczywiście że nie|na pewno nie|jasne że nie|pewnie że nie|zdecydowanie nie|absolutnie nie|oczywiście nie',
    ),
    firmYes: listed('tak|jasne|oczywiście|jak najbardziej|naturalnie'),
    // "Proszę zarezerwować" loses its first word as a courtesy.
    order: new RegExp(`^(?:${orders})(?: |$)|^\\p{L}+(?:ać|eć|ić|yć|ąć|uć)(?: |$)`, 'u'),
    told: /(?:łem|łam|liśmy|łyśmy|łbym|łabym|uję|ę)$/u,
    accepts: listed(
      'niech pan to zrobi|niech pani to zrobi',
      'byłoby świetnie|byłoby super|byłoby dobrze|byłoby miło|byłoby wspaniale|to byłoby świetne|to byłoby miłe|bardzo chętnie|chętnie|z przyjemnością|z chęcią|bardzo proszę|poproszę',
      'tak poproszę|poproszę bardzo|pasuje|pasuje mi|mi pasuje|odpowiada mi|to mi odpowiada|to mi pasuje|może być|niech będzie|niech tak będzie|tak jest|to prawda|to się zgadza',
      'wszystko się zgadza|brzmi dobrze|dobry pomysł|świetny pomysł|właśnie tego chcę|tego chcę|tak chcę|akceptuję|jestem pewien|jestem pewna|jestem za|proszę bardzo|proszę działać',
      'może pan|może pani|może pan to zrobić|może pani to zrobić|zróbmy to|zróbmy tak|tak zróbmy|nie mam nic przeciwko',
    ),
    wishes: listed('chcę|chciałbym|chciałabym'),
    courtesies: listed(
      'dla mnie|dla nas|od razu|dziękuję za pomoc|oh|och|ah|ach|hm|hmm|super',
      'yyy|eee|no|proszę|dziękuję|dziękuję bardzo|bardzo dziękuję|dzięki|dzięki wielkie|serdecznie dziękuję|panie|pani|proszę pana|proszę pani',
      'świetnie|wspaniale|doskonale|idealnie|bardzo dobrze|fajnie|miło|bardzo miło|bardzo pan miły|bardzo pani miła',
    ),
    light: spaced('to tak się ten tę go ją je niech już'),
    tellers: spaced('ja mój moja moje mam my nasz nasza mi mnie jestem'),
    openers: spaced('na do w we z ze dla o od po za i oraz przy przez u też także'),
    hedges: spaced(
      'ale jeśli jeżeli może chyba myślę sądzę albo lub zamiast raczej wolę najpierw tylko później potem inny inna inne innego lepiej zmienić oprócz',
      'co jak jaki jaka który która kiedy dlaczego czemu kto gdzie ile czy zależy wiem rozumiem słyszę widzę pytanie zapytać halo jeszcze tutaj nazywam prawdopodobnie',
      'nadzieję właściwie jednak chociaż zanim zastanawiam dopiero powtórzyć powtórz wyjaśnić wyjaśnij minutę',
    ),
    details: spaced(
      'dwa dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście dwadzieścia trzydzieści pół oba dzisiaj dziś jutro pojutrze rano wieczorem południe',
      'tydzień miesiąc następny przyszły godzina godzinie godzinę poniedziałek wtorek środa środę czwartek piątek sobota sobotę niedziela niedzielę osoby osób też',
    ),
    noRefusal: listed(
      'nie ma problemu|nie ma sprawy|czemu nie|dlaczego nie|nie mam nic przeciwko|żaden problem|nie szkodzi|nie widzę przeszkód|jeśli nie ma pan nic przeciwko',
    ),
    undoing: [
      {
        tool: /(?:^| )(?:cancel|anul|odwol|odwoł)/u,
        said: listed('anuluj|anulować|anuluj to|odwołaj|odwołać|odwołaj to'),
        clear: listed(
          'anuluj ją|anuluj go|odwołaj ją|odwołaj go|proszę anulować|proszę odwołać|proszę to anulować|proszę ją anulować|proszę to odwołać|proszę ją odwołać|anuluj proszę|odwołaj proszę|proszę anuluj|proszę odwołaj',
        ),
      },
      {
        tool: /(?:^| )(?:stop|zatrzym|wstrzym|paus)/u,
        said: listed('stop|stój|zatrzymaj|zatrzymać|wstrzymaj|wstrzymać'),
        clear: listed('zatrzymaj go|zatrzymaj ją|proszę zatrzymać|proszę wstrzymać'),
      },
      {
        tool: /(?:^| )(?:delet|remov|eras|usun|usuń|skas)/u,
        said: listed('usuń|usunąć|usuń to|skasuj|skasować|skasuj to'),
        clear: listed(
          'usuń go|usuń ją|proszę usunąć|proszę to usunąć|skasuj go|skasuj ją|proszę skasować|usuń proszę|proszę usuń',
        ),
      },
    ],
  },
};
