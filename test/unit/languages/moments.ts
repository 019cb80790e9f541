/** What callers say who need a moment, and what only sounds like it. Rules and words were made with `seen`, and `aside` was written after them. */
import { listed } from '../../../shared/base/listed.ts';

export interface Moments {
  readonly seen: readonly string[];
  readonly aside: readonly string[];
  readonly others: readonly string[];
}

export const moments: Readonly<Record<string, Moments>> = {
  en: {
    seen: listed(
      'hang on I need to find my card|just a moment please|one second|let me grab a pen|give me a minute|bear with me|hold on let me check',
      "wait I'm looking for it|let me get my glasses|I have to look that up|can you hold on for a sec|I'll just fetch my passport|let me ask my wife",
      "just a tick|hold the line please|one moment I need to open the app|give me a second to find it|I'm just getting the letter",
      'let me pull up the email|wait a moment I have to log in',
      "let me run upstairs and grab it|I'm just walking over to my desk|hold that thought my phone is ringing|give me half a minute to boot my laptop|let me put you on speaker first",
    ),
    aside: listed(
      "hold on I've got to dig out the letter|just give me two more seconds|I'm just opening my email now|one sec let me find the invoice",
      "I'll go and grab a pencil|let me quickly look for it|wait a second I'm getting my passport out|I need to ask my boss first",
      "hang on let me unlock my phone|could you hold for just a moment|I have to find my glasses first|bear with me I'm searching for the number",
      "okay let me open the app|just a few seconds|let me check the calendar|hold on I'm just logging in|I'll be right back",
      "let me get a pen and paper|sorry I'm still looking|yes sure I'll just fetch my card",
    ),
    others: listed(
      "I need to check my balance|I'd like to open an account|I want to find a hotel near the station|let me get a large coffee",
      "I'm looking for a flight to Rome|I need to get my card replaced|the second one please|I have to be there in two minutes",
      "I need to see a doctor|I lost my wallet|I'm looking for a new phone|can you check my invoice|I need to check in|I'll take the first one",
      "my wife has the card|I have to cancel my appointment|I'll ask them tomorrow|I need to open a ticket|I am calling about a letter",
      'a couple of minutes ago it worked',
      'I want to run a report|my phone is broken|I walked over to the shop|it takes half a minute|put me on the list',
    ),
  },
  de: {
    seen: listed(
      'Moment ich muss meine Karte suchen|einen Augenblick bitte|eine Sekunde|ich hole mir kurz einen Stift|geben Sie mir eine Minute',
      'haben Sie kurz Geduld|warten Sie ich schaue nach|ich suche das gerade|ich muss meine Brille holen|das muss ich nachschauen',
      'können Sie kurz dranbleiben|ich hole schnell meinen Ausweis|da muss ich meine Frau fragen|kleinen Moment noch|bleiben Sie dran',
      "Moment ich muss die App öffnen|sekunde ich hab's gleich|ich hole gerade den Brief|ich mache kurz die E-Mail auf",
      'warten Sie ich muss mich einloggen',
      'ich geh mal eben an den Schreibtisch|das liegt im Auto ich lauf schnell hin|ich muss erst den Rechner hochfahren|einen klitzekleinen Moment noch|ich stell Sie mal kurz auf laut',
    ),
    aside: listed(
      'Sekunde ich muss den Brief suchen|nur zwei Sekunden noch|ich mache gerade die App auf|ich suche mal eben die Rechnung',
      'Moment ich hole einen Kuli|ich muss erst meinen Chef fragen|warten Sie ich schaue in den Kalender|können Sie einen Moment warten',
      'ja gut ich hole mir nur Papier|ich muss das kurz prüfen|ich bin gleich wieder da|etwas Geduld bitte|Augenblick ich krame meine Karte raus',
      'da muss ich meinen Mann fragen|ich öffne mal die E-Mail|lassen Sie mich meine Brille holen|ich finde das gleich|noch einen Augenblick bitte',
      'Moment ich logge mich gerade ein|ich muss nur schnell meinen Ausweis holen',
    ),
    others: listed(
      'ich suche ein Hotel in Bonn|ich möchte ein Konto eröffnen|ich muss meinen Termin absagen|ich brauche eine neue Karte',
      'ich habe meinen Ausweis verloren|die zweite bitte|ich muss in zwei Minuten da sein|ich muss meine Karte sperren lassen|ich suche eine Wohnung',
      'prüfen Sie meine Rechnung|ich rufe wegen des Briefs an|ich frage mich wann das kommt|ich nehme die erste|ich mache das morgen|ich bin in Köln',
      'meine Frau hat die Karte|ich muss zum Arzt|ich gehe um acht|ich sehe da ein Problem|ich hole es um drei ab',
      'ich gehe morgen zum Arzt|mein Rechner ist kaputt|das Auto steht im Hof|laut Vertrag gilt das|in einem Moment war alles weg',
    ),
  },
  fr: {
    seen: listed(
      "attendez je dois chercher ma carte|un instant s'il vous plaît|une petite seconde|je prends de quoi noter|donnez-moi une minute",
      'patientez un moment|attendez je regarde|je suis en train de chercher|je vais chercher mes lunettes|il faut que je vérifie',
      'vous pouvez patienter un instant|je vais vite prendre mon passeport|je demande à ma femme|deux secondes|ne quittez pas',
      "un moment je dois ouvrir l'application|laissez-moi le temps de le trouver|je sors le courrier|je cherche le mail",
      'attendez il faut que je me connecte',
      "je vais chercher ça à l'étage|le temps d'allumer mon ordinateur|deux petites minutes s'il vous plaît|je retourne à mon bureau ne quittez pas|faut que je retrouve ce papier",
    ),
    aside: listed(
      "attendez je cherche ma facture|encore deux petites secondes|j'ouvre mon application|je prends un stylo|il faut que je demande à mon mari",
      'un instant je sors mes papiers|je dois regarder dans mon agenda|vous pouvez attendre une minute|patientez je récupère mon passeport',
      "laissez-moi trouver mes lunettes|je reviens tout de suite|je vais demander à mon chef|attendez que j'ouvre la lettre|juste une petite minute",
      "je regarde dans mon mail|je vérifie ça|une seconde je me connecte|il faut que je retrouve le courrier|un peu de patience s'il vous plaît",
      'oui alors je cherche mon permis',
    ),
    others: listed(
      "je cherche un hôtel à Lyon|je voudrais ouvrir un compte|je dois annuler mon rendez-vous|j'ai perdu ma carte|la seconde s'il vous plaît",
      'je dois y être dans deux minutes|je prends le menu du jour|je vais prendre le train de midi|vous pouvez vérifier ma facture',
      'je cherche un appartement|je suis à Paris|je demande un remboursement|ma femme a la carte|je dois voir un médecin|je regarde la télé le soir',
      'il faut que je sois là à huit heures|je dois faire opposition sur ma carte bleue|je me demande pourquoi|je sors à dix heures',
      "j'ouvre à neuf heures",
      "je vais à l'étage avec l'ascenseur|mon ordinateur est en panne|dans deux petites rues|je quitte mon bureau demain|ce papier est faux",
    ),
  },
  es: {
    seen: listed(
      'espere tengo que buscar mi tarjeta|un momento por favor|un segundito|voy a coger un boli|deme un minuto|tenga un poco de paciencia',
      'espere que lo miro|lo estoy buscando|voy a por mis gafas|tengo que comprobarlo|puede esperar un momento|voy a buscar mi pasaporte',
      'déjeme preguntarle a mi mujer|dos segundos|no cuelgue|un momento tengo que abrir la aplicación|deme un segundo para encontrarlo',
      'estoy sacando la carta|déjeme abrir el correo|espere tengo que entrar en mi cuenta',
      'voy un momento a mi despacho|deje que encienda el ordenador|aguante un segundito|tengo que bajar al coche a por ello|a ver si lo encuentro por aquí',
    ),
    aside: listed(
      'espere que busco la factura|solo dos segundos más|estoy abriendo la aplicación|voy a coger un papel|tengo que preguntarle a mi jefe',
      'un momento saco el pasaporte|déjeme mirar el calendario|puede esperar un minuto|tengo que encontrar mis gafas|ahora vuelvo',
      'voy a buscar el recibo|permítame abrir el correo|un segundo estoy entrando|déjeme verificarlo|busco un bolígrafo|espere voy por mi cartera',
      'un poco de paciencia por favor|tengo que revisar la carta|bueno déjeme sacar la tarjeta|necesito buscar mi dni',
    ),
    others: listed(
      'busco un hotel en Sevilla|el segundo|quiero abrir una cuenta|tengo que cancelar mi cita|he perdido mi tarjeta|la segunda por favor',
      'tengo que estar allí en dos minutos|voy a tomar el menú|necesito una tarjeta nueva|puede comprobar mi factura|busco piso|estoy en Madrid',
      'mi mujer tiene la tarjeta|tengo que ver al médico|voy a ir mañana|estoy buscando un vuelo a Roma|quisiera preguntar por el precio',
      'tengo que bloquear mi tarjeta de crédito|voy a pedir dos pizzas|estoy esperando el paquete|abro a las nueve',
      'mi ordenador no enciende|voy a mi despacho los lunes|el coche está abajo|lo encontré ayer|hay un segundo piso',
    ),
  },
  tr: {
    seen: listed(
      'bekleyin kartımı bulmam lazım|bir dakika lütfen|bir saniye|hemen kalem alayım|bana bir dakika verin|biraz bekler misiniz|durun bakıyorum',
      'şu an arıyorum|gözlüğümü alayım|kontrol etmem gerek|hatta kalır mısınız|pasaportumu getireyim|eşime sorayım|iki dakika|hatta kalın',
      'bir dakika uygulamayı açmam lazım|bulmam için biraz zaman verin|mektubu çıkarıyorum|e-postayı açıyorum|bekleyin giriş yapmam lazım',
      'bir koşu yukarıdan alayım|bilgisayarı açmam lazım bir saniye|masama geçiyorum hemen|iki dakikanızı rica edeceğim|gözlüğümü takayım önce',
    ),
    aside: listed(
      'bekleyin faturayı arıyorum|sadece iki saniye|uygulamayı açıyorum|bir kalem alayım|müdürüme sormam lazım|bir saniye pasaportumu çıkarıyorum',
      'takvime bakayım|bir dakika bekler misiniz|gözlüğümü bulmam gerek|hemen dönüyorum|cüzdanımı getireyim|maili açıyorum|kimliğimi almam lazım',
      'onu kontrol edeyim|biraz sabır lütfen|kocama soruyorum|mektubu bulayım|bir saniye giriyorum|tamam kartımı çıkarayım|belgeye bakmam lazım',
    ),
    others: listed(
      'otel arıyorum|hesap açmak istiyorum|randevumu iptal etmem lazım|kartımı kaybettim|ikincisi lütfen|iki dakika sonra orada olmalıyım',
      "yeni kart istiyorum|faturamı kontrol eder misiniz|kartımı kapatın|İzmir'deyim|kart bende değil|doktora gitmem lazım|yarın geliyorum",
      "Roma'ya uçak arıyorum|fiyatı soracaktım|iki pizza istiyorum|paketi bekliyorum|saat dokuzda açılıyor|eşim kartı aldı|şubeye gitmem gerek",
      'bilgisayarım açılmıyor|yukarıdaki daireyi istiyorum|masam kırık geldi|iki dakika geç kaldım|gözlük sipariş ettim',
    ),
  },
  it: {
    seen: listed(
      'aspetti devo cercare la carta|un momento per favore|un secondino|prendo una penna|mi dia un minuto|aspetti che guardo|lo sto cercando',
      'devo controllare|chiedo a mia moglie|resti in linea',
      'vado un attimo alla scrivania|mi dia il tempo di accendere il computer|resti in linea che lo cerco|solo un istante che trovo il foglio',
    ),
    aside: listed(
      'aspetti cerco la bolletta|solo due secondi|sto aprendo la app|devo chiedere a mio marito|un attimo tiro fuori il passaporto',
      "devo trovare gli occhiali|torno subito|un po' di pazienza|mi faccia controllare l'agenda|prendo carta e penna",
    ),
    others: listed(
      "cerco un albergo a Roma|devo annullare l'appuntamento|ho perso la carta|il secondo per favore|prendo il menù del giorno",
      'devo bloccare la carta di credito|sono a Milano|sto aspettando il pacco|devo essere lì tra due minuti|chiedo un rimborso',
      'il computer non si accende|la scrivania è arrivata rotta|la macchina è in garage|il foglio è sbagliato|cerco un appartamento',
    ),
  },
  pt: {
    seen: listed(
      'espere tenho que procurar meu cartão|um momento por favor|um segundinho|vou pegar uma caneta|me dê um minuto|espere que vou ver',
      'estou procurando|preciso verificar|vou perguntar para minha mulher|não desligue',
      'vou ali na mesa pegar|deixa eu ligar o computador|aguenta aí dois segundinhos|só um instantinho que eu já acho',
    ),
    aside: listed(
      'espere estou abrindo o aplicativo|só dois segundos|vou buscar meus óculos|tenho que perguntar ao meu chefe|um instante vou pegar o passaporte',
      'preciso achar a fatura|já volto|um pouco de paciência|deixa eu olhar a agenda|vou procurar uma caneta',
    ),
    others: listed(
      'procuro um hotel em Lisboa|preciso cancelar minha consulta|perdi meu cartão|a segunda por favor|vou querer o menu',
      'preciso bloquear o meu cartão de crédito|estou em São Paulo|estou esperando o pacote|tenho que estar lá em dois minutos|peço um reembolso',
      'o computador não liga|a mesa chegou quebrada|o carro está na garagem|acho caro demais|vou viajar amanhã',
    ),
  },
  nl: {
    seen: listed(
      'wacht ik moet mijn kaart zoeken|een ogenblik alstublieft|een seconde|ik pak even een pen|geef me een minuut|wacht ik kijk even',
      'ik ben het aan het zoeken|dat moet ik nakijken|ik vraag het mijn vrouw|blijf aan de lijn',
      'ik loop even naar mijn bureau|wacht ik start mijn computer op|een klein momentje graag|ik moet het even boven halen|ik zet u even op luidspreker',
    ),
    aside: listed(
      'wacht ik zoek de factuur|nog twee seconden|ik open de app|ik moet mijn man vragen|moment ik haal mijn paspoort|ik moet mijn bril zoeken',
      'ik ben zo terug|even geduld alstublieft|laat me de agenda checken|ik ga even papier pakken',
    ),
    others: listed(
      'ik zoek een hotel in Gent|ik moet mijn afspraak afzeggen|ik ben mijn kaart kwijt|de tweede alstublieft|ik neem het dagmenu',
      'ik moet mijn kaart blokkeren|ik ben in Utrecht|ik wacht op het pakket|ik moet er over twee minuten zijn|ik vraag mijn geld terug',
      'mijn computer start niet op|mijn bureau is kapot|ik loop marathon|het is boven de prijs|de luidspreker doet het niet',
    ),
  },
  pl: {
    seen: listed(
      'chwila muszę znaleźć kartę|moment proszę|sekundkę|wezmę tylko długopis|proszę dać mi minutę|już sprawdzam|właśnie szukam|muszę to sprawdzić',
      'zapytam żonę|proszę się nie rozłączać',
      'podejdę tylko do biurka|muszę włączyć komputer chwileczkę|proszę o minutkę cierpliwości|zejdę do samochodu po dokumenty|już szukam tej kartki',
    ),
    aside: listed(
      'chwileczkę szukam faktury|jeszcze dwie sekundy|otwieram aplikację|muszę zapytać męża|moment wyjmę paszport|muszę znaleźć okulary|zaraz wracam',
      'trochę cierpliwości|sprawdzę w kalendarzu|już biorę długopis',
    ),
    others: listed(
      'szukam hotelu w Gdańsku|muszę odwołać wizytę|zgubiłem kartę|drugi proszę|poproszę danie dnia|muszę zablokować kartę kredytową',
      'jestem w Krakowie|czekam na paczkę|muszę tam być za dwie minuty|proszę o zwrot pieniędzy',
      'komputer się nie włącza|biurko przyszło uszkodzone|samochód stoi w garażu|szukam mieszkania|kartka jest zła',
    ),
  },
  hi: {
    seen: listed(
      'रुकिए मुझे अपना कार्ड ढूँढना है|एक मिनट रुकिए|एक सेकंड|मैं पेन ले लूँ|मुझे एक मिनट दीजिए|रुकिए मैं देखता हूँ|मैं ढूँढ रहा हूँ',
      'मुझे चेक करना पड़ेगा|मैं अपनी पत्नी से पूछता हूँ|लाइन पर रहिए',
      'ज़रा ऊपर से लेकर आता हूँ|कंप्यूटर चालू करने दीजिए|बस दो मिनट दीजिए|मैं अपनी मेज़ पर जा रहा हूँ|चश्मा लगा लूँ ज़रा',
    ),
    aside: listed(
      'रुकिए मैं बिल ढूँढ रहा हूँ|बस दो सेकंड|मैं ऐप खोल रहा हूँ|मुझे पत्नी से पूछना पड़ेगा|एक मिनट पासपोर्ट निकाल रहा हूँ|मुझे चश्मा ढूँढना है',
      'अभी आता हूँ|थोड़ा इंतज़ार कीजिए|ज़रा डायरी देखता हूँ|मैं कार्ड निकालता हूँ',
    ),
    others: listed(
      'मुझे होटल चाहिए|मुझे अपॉइंटमेंट रद्द करना है|मेरा कार्ड खो गया|दूसरा वाला दीजिए|मुझे नया कार्ड चाहिए|मुझे कार्ड बंद करवाना है',
      'मैं दिल्ली में हूँ|मैं पार्सल का इंतज़ार कर रहा हूँ|दो मिनट पहले चल रहा था|मुझे पैसे वापस चाहिए',
      'कंप्यूटर चालू नहीं हो रहा|ऊपर वाला कमरा चाहिए|मेज़ टूटी हुई आई|दो मिनट की देरी हुई|चश्मा खरीदना है',
    ),
  },
};
