"""
Three things that a chatbot says, in 27 languages; written for these
tests after the rule was.
"""

TRANSLATIONS = {
    'Afrikaans': (
        'Die Mona Lisa is nie deur Leonardo da Vinci geskilder nie.',
        'Ek weet nie, maar ek dink die park is in 1969 geopen.',
        'Bye het vyf oë en hulle kan baie goed sien.',
    ),
    'Albanian': (
        'Mona Lisa nuk u pikturua nga Leonardo da Vinci.',
        'Nuk e di, por mendoj se parku u hap në vitin 1969.',
        'Bletët kanë pesë sy dhe shohin shumë mirë.',
    ),
    'Arabic': (
        'لم يرسم ليوناردو دا فينشي لوحة الموناليزا.',
        'لا أعرف، لكنني أعتقد أن الحديقة افتتحت عام 1969.',
        'للنحل خمس عيون ويرى جيدا.',
    ),
    'Catalan': (
        'La Mona Lisa no va ser pintada per Leonardo da Vinci.',
        'No ho sé, però crec que el parc es va obrir el 1969.',
        'Les abelles tenen cinc ulls i hi veuen molt bé.',
    ),
    'Chinese': (
        '蒙娜丽莎不是列奥纳多·达·芬奇画的。',
        '我不知道，但我想公园是1969年开放的。',
        '蜜蜂有五只眼睛，视力很好。',
    ),
    'Croatian': (
        'Mona Lizu nije naslikao Leonardo da Vinci.',
        'Ne znam, ali mislim da je park otvoren 1969.',
        'Pčele imaju pet očiju i vrlo dobro vide.',
    ),
    'Czech': (
        'Monu Lisu nenamaloval Leonardo da Vinci.',
        'Nevím, ale myslím, že park byl otevřen v roce 1969.',
        'Včely mají pět očí a vidí velmi dobře.',
    ),
    'Danish': (
        'Mona Lisa blev ikke malet af Leonardo da Vinci.',
        'Jeg ved det ikke, men jeg tror, at parken åbnede i 1969.',
        'Bier har fem øjne, og de kan se meget godt.',
    ),
    'Dutch': (
        'De Mona Lisa werd niet door Leonardo da Vinci geschilderd.',
        'Ik weet het niet, maar ik denk dat het park in 1969 openging.',
        'Bijen hebben vijf ogen en kunnen heel goed zien.',
    ),
    'Finnish': (
        'Mona Lisaa ei maalannut Leonardo da Vinci.',
        'En tiedä, mutta luulen, että puisto avattiin vuonna 1969.',
        'Mehiläisillä on viisi silmää, ja ne näkevät hyvin.',
    ),
    'French': (
        "La Joconde n'a pas été peinte par Léonard de Vinci.",
        'Je ne sais pas, mais je pense que le parc a ouvert en 1969.',
        'Les abeilles ont cinq yeux et elles voient très bien.',
    ),
    'German': (
        'Die Mona Lisa wurde nicht von Leonardo da Vinci gemalt.',
        'Ich weiß es nicht, aber ich glaube, der Park wurde 1969 eröffnet.',
        'Bienen haben fünf Augen und können sehr gut sehen.',
    ),
    'Greek': (
        'Η Μόνα Λίζα δεν ζωγραφίστηκε από τον Λεονάρντο ντα Βίντσι.',
        'Δεν ξέρω, αλλά νομίζω ότι το πάρκο άνοιξε το 1969.',
        'Οι μέλισσες έχουν πέντε μάτια.',
    ),
    'Hindi': (
        'मोना लिसा को लियोनार्डो दा विंची ने नहीं बनाया था।',
        'मुझे नहीं पता, पर पार्क 1969 में खुला था।',
        'मधुमक्खियों की पाँच आँखें होती हैं।',
    ),
    'Hungarian': (
        'A Mona Lisát nem Leonardo da Vinci festette.',
        'Nem tudom, de azt hiszem, hogy a park 1969-ben nyílt meg.',
        'A méheknek öt szemük van, és nagyon jól látnak.',
    ),
    'Indonesian': (
        'Mona Lisa tidak dilukis oleh Leonardo da Vinci.',
        'Saya tidak tahu, tetapi saya pikir taman itu dibuka pada tahun 1969.',
        'Lebah memiliki lima mata dan mereka dapat melihat dengan baik.',
    ),
    'Italian': (
        'La Gioconda non è stata dipinta da Leonardo da Vinci.',
        'Non lo so, ma penso che il parco sia stato aperto nel 1969.',
        'Le api hanno cinque occhi e vedono molto bene.',
    ),
    'Japanese': (
        'モナ・リザはレオナルド・ダ・ヴィンチが描いたものではない。',
        'わかりませんが、公園は1969年に開園したと思います。',
        '蜂には目が五つあります。',
    ),
    'Norwegian': (
        'Mona Lisa ble ikke malt av Leonardo da Vinci.',
        'Jeg vet ikke, men jeg tror at parken åpnet i 1969.',
        'Bier har fem øyne, og de kan se veldig godt.',
    ),
    'Polish': (
        'Mona Lisa nie została namalowana przez Leonarda da Vinci.',
        'Nie wiem, ale myślę, że park został otwarty w 1969 roku.',
        'Pszczoły mają pięć oczu i widzą bardzo dobrze.',
    ),
    'Portuguese': (
        'A Mona Lisa não foi pintada por Leonardo da Vinci.',
        'Eu não sei, mas acho que o parque abriu em 1969.',
        'As abelhas têm cinco olhos e enxergam muito bem.',
    ),
    'Romanian': (
        'Mona Lisa nu a fost pictată de Leonardo da Vinci.',
        'Nu știu, dar cred că parcul a fost deschis în 1969.',
        'Albinele au cinci ochi și văd foarte bine.',
    ),
    'Russian': (
        'Мону Лизу написал не Леонардо да Винчи.',
        'Я не знаю, но думаю, что парк открылся в 1969 году.',
        'У пчёл пять глаз.',
    ),
    'Spanish': (
        'La Mona Lisa no fue pintada por Leonardo da Vinci.',
        'No lo sé, pero creo que el parque se abrió en 1969.',
        'Las abejas tienen cinco ojos y ven muy bien.',
    ),
    'Swedish': (
        'Mona Lisa målades inte av Leonardo da Vinci.',
        'Jag vet inte, men jag tror att parken öppnade 1969.',
        'Bin har fem ögon och de kan se mycket bra.',
    ),
    'Turkish': (
        "Mona Lisa'yı Leonardo da Vinci yapmadı.",
        'Bilmiyorum ama parkın 1969 yılında açıldığını sanıyorum.',
        'Arıların beş gözü vardır ve çok iyi görürler.',
    ),
    'Vietnamese': (
        'Bức tranh Mona Lisa không phải do Leonardo da Vinci vẽ.',
        'Tôi không biết, nhưng tôi nghĩ công viên mở cửa năm 1969.',
        'Ong có năm mắt và nhìn rất rõ.',
    ),
}
